//! Compiling models.

use crate::error::{c_path, c_text, call};
use crate::{ffi, Model, Result, Tensor};
use std::os::raw::{c_int, c_void};
use std::path::Path;
use std::ptr;

/// Compiles a model into an archive, with all defaults.
pub fn compile(path: impl AsRef<Path>, out_path: impl AsRef<Path>) -> Result<Report> {
    Compiler::new()?.compile(path, out_path)
}

/// How to compile. What has no function here is set by one of [`ffi`] on [`Compiler::as_ptr`].
pub struct Compiler {
    pointer: *mut ffi::HoloCompiler,
}

// It is a set of choices; many threads may compile with it.
unsafe impl Send for Compiler {}
unsafe impl Sync for Compiler {}

impl Compiler {
    pub fn new() -> Result<Self> {
        let mut pointer = ptr::null_mut();
        call(|_| unsafe { ffi::holo_compiler_create(&mut pointer) })?;
        Ok(Compiler { pointer })
    }
    pub fn as_ptr(&self) -> *mut ffi::HoloCompiler {
        self.pointer
    }
    /// Fixes the shape of an input; -1: as the model has it.
    pub fn set_shape(&mut self, input: &str, shape: &[i64]) -> Result<()> {
        let name = c_text(input)?;
        call(|error| unsafe {
            ffi::holo_compiler_set_shape(self.pointer, name.as_ptr(), shape.len() as c_int, shape.as_ptr(), error)
        })
    }
    /// The same bits on every CPU.
    pub fn set_exact(&mut self, on: bool) {
        let numeric = if on { ffi::HOLO_EXACT } else { ffi::HOLO_FUSED };
        unsafe { ffi::holo_compiler_set_numeric(self.pointer, numeric) }
    }
    pub fn set_verify(&mut self, on: bool) {
        unsafe { ffi::holo_compiler_set_verify(self.pointer, on) }
    }
    pub fn set_threads(&mut self, threads: usize) {
        unsafe { ffi::holo_compiler_set_threads(self.pointer, threads as c_int) }
    }
    /// `ffi::HOLO_QUANTIZE_INT8` ...
    pub fn set_quantize(&mut self, kind: ffi::HoloQuantizeKind) {
        unsafe { ffi::holo_compiler_set_quantize(self.pointer, kind) }
    }
    /// One sample to calibrate with: a tensor for each input. It is copied.
    pub fn add_sample(&mut self, inputs: &[(&str, Tensor)]) -> Result<()> {
        let names: Vec<_> = inputs.iter().map(|(name, _)| c_text(name)).collect::<Result<_>>()?;
        let list: Vec<_> = names
            .iter()
            .zip(inputs)
            .map(|(name, (_, tensor))| ffi::HoloRunInput { name: name.as_ptr(), index: -1, tensor: tensor.view })
            .collect();
        call(|error| unsafe { ffi::holo_compiler_add_sample(self.pointer, list.as_ptr(), list.len() as c_int, error) })
    }
    /// Ends the compiles that are in progress, from any thread.
    pub fn cancel(&self) {
        unsafe { ffi::holo_compiler_cancel(self.pointer) }
    }

    /// The model at `path` into an archive.
    pub fn compile(&self, path: impl AsRef<Path>, out_path: impl AsRef<Path>) -> Result<Report> {
        let (from, to) = (c_path(path.as_ref())?, c_path(out_path.as_ref())?);
        let mut pointer = ptr::null_mut();
        call(|error| unsafe { ffi::holo_compile_file(self.pointer, from.as_ptr(), to.as_ptr(), &mut pointer, error) })?;
        Ok(Report { pointer })
    }
    /// The same without a file: the model is opened.
    pub fn model(&self, path: impl AsRef<Path>) -> Result<Model> {
        let path = c_path(path.as_ref())?;
        let mut pointer = ptr::null_mut();
        call(|error| unsafe { ffi::holo_compile_model(self.pointer, path.as_ptr(), &mut pointer, ptr::null_mut(), error) })?;
        Ok(Model { pointer })
    }
    /// The same of the bytes of a model's file.
    pub fn model_of_bytes(&self, bytes: &[u8]) -> Result<Model> {
        let mut pointer = ptr::null_mut();
        call(|error| unsafe {
            let data = bytes.as_ptr() as *const c_void;
            ffi::holo_compile_memory(self.pointer, data, bytes.len(), &mut pointer, ptr::null_mut(), error)
        })?;
        Ok(Model { pointer })
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        unsafe { ffi::holo_compiler_destroy(self.pointer) }
    }
}

/// What a compile did.
pub struct Report {
    pointer: *mut ffi::HoloReport,
}

impl std::ops::Deref for Report {
    type Target = ffi::HoloReport;
    fn deref(&self) -> &ffi::HoloReport {
        unsafe { &*self.pointer }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        unsafe { ffi::holo_report_destroy(self.pointer) }
    }
}
