//! Views of tensors: a type, a shape and memory of somebody else.

use crate::error::text;
use crate::{ffi, Error, Result};
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_void;

/// The type of elements, by the C library's numbers: `Dtype::F32`, `Dtype::I64` ...
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Dtype(pub u8);

impl Dtype {
    /// "f32"; "?" where there is no such type.
    pub fn name(self) -> &'static str {
        unsafe { text(ffi::holo_dtype_name(self.0.into())) }
    }
}

impl fmt::Debug for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Types of Rust that are elements of tensors.
///
/// # Safety
/// `DTYPE` must be the type of the C library with the same size and meaning.
pub unsafe trait Element: Copy + 'static {
    const DTYPE: Dtype;
    /// Whether these bytes are such elements.
    fn is_valid(_bytes: &[u8]) -> bool {
        true
    }
}

macro_rules! elements {
    ($($kind:ty: $dtype:ident),*) => {
        $(unsafe impl Element for $kind {
            const DTYPE: Dtype = Dtype::$dtype;
        })*
    };
}
elements!(f32: F32, f64: F64, i8: I8, i16: I16, i32: I32, i64: I64, u8: U8, u16: U16, u32: U32, u64: U64);

unsafe impl Element for bool {
    const DTYPE: Dtype = Dtype::BOOL;
    fn is_valid(bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| *byte < 2)
    }
}

/// A view of a tensor, dense and row-major. It copies nothing and cannot outlive what it views.
#[derive(Clone, Copy)]
pub struct Tensor<'a> {
    pub(crate) view: ffi::HoloTensor,
    memory: PhantomData<&'a [u8]>,
}

// It is only read.
unsafe impl Send for Tensor<'_> {}
unsafe impl Sync for Tensor<'_> {}

impl<'a> Tensor<'a> {
    /// A view of these elements in this shape, which must have as many.
    pub fn new<T: Element>(data: &'a [T], shape: &[i64]) -> Result<Self> {
        // A slice of numbers can be seen as bytes.
        let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr() as *const u8, std::mem::size_of_val(data)) };
        let tensor = Tensor::of_bytes(T::DTYPE, bytes, shape)?;
        if tensor.count() != data.len() {
            let message = format!("the shape {shape:?} has {} elements, and {} are given", tensor.count(), data.len());
            return Err(Error::new(ffi::HOLO_BAD_ARGUMENT, message));
        }
        Ok(tensor)
    }

    /// The same for types that Rust lacks, as f16: of their bytes, in the order of this machine.
    pub fn of_bytes(dtype: Dtype, bytes: &'a [u8], shape: &[i64]) -> Result<Self> {
        let wrong = |message: String| Err(Error::new(ffi::HOLO_BAD_ARGUMENT, message));
        let mut view: ffi::HoloTensor = unsafe { std::mem::zeroed() };
        if shape.len() > view.dim.len() {
            return wrong(format!("a tensor has at most {} dimensions, not {}", view.dim.len(), shape.len()));
        }
        view.dtype = dtype.0;
        view.rank = shape.len() as i8;
        view.dim[..shape.len()].copy_from_slice(shape);
        view.data = bytes.as_ptr() as *mut c_void;
        let count = unsafe { ffi::holo_tensor_count(&view) };
        if count < 0 || dtype == Dtype::STRING {
            return wrong(format!("there are no {} elements in the shape {shape:?}", dtype.name()));
        }
        let size = unsafe { ffi::holo_tensor_bytes(&view) };
        if size != bytes.len() {
            return wrong(format!("the shape {shape:?} of {} takes {size} bytes, and {} are given", dtype.name(), bytes.len()));
        }
        Ok(Tensor { view, memory: PhantomData })
    }

    /// A view that the library gave. It must live as long as `'a`.
    pub(crate) unsafe fn of_view(view: ffi::HoloTensor) -> Self {
        Tensor { view, memory: PhantomData }
    }

    pub fn dtype(&self) -> Dtype {
        Dtype(self.view.dtype)
    }
    pub fn shape(&self) -> &[i64] {
        &self.view.dim[..self.view.rank.max(0) as usize]
    }
    /// Elements; 0 where that is not known.
    pub fn count(&self) -> usize {
        unsafe { ffi::holo_tensor_count(&self.view) }.max(0) as usize
    }
    /// The bytes of a tensor of numbers; of what is something else, none.
    pub fn bytes(&self) -> &'a [u8] {
        let size = unsafe { ffi::holo_tensor_bytes(&self.view) };
        if self.view.kind as u32 != ffi::HOLO_TENSOR || self.dtype() == Dtype::STRING || self.view.data.is_null() || size == 0 {
            return &[];
        }
        unsafe { std::slice::from_raw_parts(self.view.data as *const u8, size) }
    }

    /// The elements, which must be of this type.
    pub fn values<T: Element>(&self) -> Result<&'a [T]> {
        let bytes = self.bytes();
        let is_aligned = bytes.as_ptr() as usize % std::mem::align_of::<T>() == 0;
        let is_tensor = self.view.kind as u32 == ffi::HOLO_TENSOR;
        if self.dtype() != T::DTYPE || !is_tensor || !(bytes.is_empty() || is_aligned) || !T::is_valid(bytes) {
            let message = format!("elements of {:?} were asked for, and these are {:?}", T::DTYPE, self.dtype());
            return Err(Error::new(ffi::HOLO_BAD_ARGUMENT, message));
        }
        if bytes.is_empty() {
            return Ok(&[]);
        }
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr() as *const T, bytes.len() / std::mem::size_of::<T>()) })
    }

    /// The texts of a tensor of strings.
    pub fn strings(&self) -> Result<Vec<&'a [u8]>> {
        if self.view.kind as u32 != ffi::HOLO_TENSOR || self.dtype() != Dtype::STRING {
            return Err(Error::new(ffi::HOLO_BAD_ARGUMENT, format!("strings were asked for, and these are {:?}", self.dtype())));
        }
        let list = self.view.data as *const ffi::HoloString;
        let one = |i| unsafe {
            let text: &ffi::HoloString = &*list.add(i);
            match text.size {
                0 => &[][..],
                size => std::slice::from_raw_parts(text.data as *const u8, size),
            }
        };
        Ok((0..self.count()).map(one).collect())
    }
}

impl fmt::Debug for Tensor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}{:?}", self.dtype(), self.shape())
    }
}
