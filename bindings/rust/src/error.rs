//! What went wrong, in the words of the C library.

use crate::ffi;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::c_char;

/// A status of the C library (`ffi::HOLO_BAD_INPUT` ...) and its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub status: ffi::HoloStatus,
    pub message: String,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(status: ffi::HoloStatus, message: String) -> Self {
        Error { status, message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A text of the library, which lives as long as the caller says; NULL is "".
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> &'a str {
    if pointer.is_null() {
        return "";
    }
    CStr::from_ptr(pointer).to_str().unwrap_or("")
}

/// Calls a function of the C API that takes a HoloError.
pub(crate) fn call(function: impl FnOnce(*mut ffi::HoloError) -> ffi::HoloStatus) -> Result<()> {
    let mut error = std::mem::MaybeUninit::<ffi::HoloError>::uninit();
    let place = error.as_mut_ptr();
    // Only the status and the first byte of the text must be zero: the rest of its 4 KB is written before it is read.
    let status = unsafe {
        (*place).status = ffi::HOLO_OK;
        (*place).text[0] = 0;
        function(place)
    };
    if status == ffi::HOLO_OK {
        return Ok(());
    }
    // Messages end with 0.
    let told = unsafe { CStr::from_ptr(std::ptr::addr_of!((*place).text) as *const c_char).to_string_lossy().into_owned() };
    let message = if told.is_empty() { unsafe { text(ffi::holo_status_text(status)).to_string() } } else { told };
    Err(Error::new(status, message))
}

/// A text for C.
pub(crate) fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(ffi::HOLO_BAD_ARGUMENT, format!("{text:?} has a zero byte inside")))
}

pub(crate) fn c_path(path: &std::path::Path) -> Result<CString> {
    match path.to_str() {
        Some(text) => c_text(text),
        None => Err(Error::new(ffi::HOLO_BAD_ARGUMENT, format!("{} is no UTF-8", path.display()))),
    }
}
