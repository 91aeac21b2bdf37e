//! Tensors with memory of their own, from files.

use crate::error::{c_path, c_text, call};
use crate::{ffi, Error, Port, Result, Tensor};
use std::path::Path;
use std::ptr;

/// The tensors of a file: .npy, .npz, ONNX .pb, or text of numbers.
pub struct Tensors {
    pointer: *mut ffi::HoloTensors,
}

unsafe impl Send for Tensors {}
unsafe impl Sync for Tensors {}

impl Tensors {
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Tensors::read_type(path.as_ref(), ptr::null())
    }
    /// The same where the file does not say what it holds: as this input or output.
    pub fn read_as(path: impl AsRef<Path>, port: Port) -> Result<Self> {
        Tensors::read_type(path.as_ref(), &port.port.r#type)
    }
    fn read_type(path: &Path, want: *const ffi::HoloTensor) -> Result<Self> {
        let path = c_path(path)?;
        let mut pointer = ptr::null_mut();
        call(|error| unsafe { ffi::holo_tensors_read(path.as_ptr(), want, &mut pointer, error) })?;
        Ok(Tensors { pointer })
    }
    pub fn len(&self) -> usize {
        unsafe { ffi::holo_tensors_count(self.pointer) as usize }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn at(&self, index: usize) -> Result<Tensor<'_>> {
        let view = unsafe { ffi::holo_tensors_get(self.pointer, index as i32, ptr::null_mut()) };
        self.view(view, || format!("there is no tensor {index}: there are {}", self.len()))
    }
    pub fn get(&self, name: &str) -> Result<Tensor<'_>> {
        let text = c_text(name)?;
        let view = unsafe { ffi::holo_tensors_find(self.pointer, text.as_ptr()) };
        self.view(view, || format!("there is no tensor {name}"))
    }
    fn view(&self, view: *const ffi::HoloTensor, why_not: impl FnOnce() -> String) -> Result<Tensor<'_>> {
        if view.is_null() {
            return Err(Error::new(ffi::HOLO_BAD_ARGUMENT, why_not()));
        }
        Ok(unsafe { Tensor::of_view(*view) })
    }
}

impl Drop for Tensors {
    fn drop(&mut self) {
        unsafe { ffi::holo_tensors_destroy(self.pointer) }
    }
}

impl Tensor<'_> {
    /// Elements of any type of numbers, or bool, as f64.
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers = vec![0.0; if self.bytes().is_empty() { 0 } else { self.count() }];
        if !numbers.is_empty() {
            unsafe { ffi::holo_tensor_numbers(&self.view, 0, numbers.len() as i64, numbers.as_mut_ptr()) }
        }
        numbers
    }
}
