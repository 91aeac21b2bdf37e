//! Models, their inputs and outputs, and runs that all threads may make.

use crate::error::{c_path, c_text, call, text};
use crate::{ffi, Dtype, Error, Result, Session, Tensor};
use std::ffi::CString;
use std::marker::PhantomData;
use std::os::raw::c_int;
use std::path::Path;
use std::ptr;
use std::sync::atomic::AtomicI32;
use std::time::Duration;

/// A set of threads that sessions share.
pub struct Pool {
    pub(crate) pointer: *mut ffi::HoloPool,
}

// Sessions of several threads may share one.
unsafe impl Send for Pool {}
unsafe impl Sync for Pool {}

impl Pool {
    /// 0: one thread a core.
    pub fn new(threads: usize) -> Result<Self> {
        let mut pointer = ptr::null_mut();
        call(|_| unsafe { ffi::holo_pool_create(threads as c_int, &mut pointer) })?;
        Ok(Pool { pointer })
    }
    pub fn threads(&self) -> usize {
        unsafe { ffi::holo_pool_threads(self.pointer) as usize }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        unsafe { ffi::holo_pool_destroy(self.pointer) }
    }
}

/// An input or an output of a model.
#[derive(Clone, Copy)]
pub struct Port<'a> {
    pub(crate) port: &'a ffi::HoloPort,
}

impl<'a> Port<'a> {
    pub fn name(&self) -> &'a str {
        unsafe { text(self.port.name) }
    }
    pub fn dtype(&self) -> Dtype {
        Dtype(self.port.type_of().dtype)
    }
    /// Sizes; -1: the model leaves it open, and `symbol` says how it is written.
    pub fn shape(&self) -> &'a [i64] {
        let kind = self.port.type_of();
        &kind.dim[..kind.rank.max(0) as usize]
    }
    /// How a dynamic size is written: "batch".
    pub fn symbol(&self, i: usize) -> Option<&'a str> {
        let pointer = *self.port.symbol.get(i)?;
        (!pointer.is_null()).then(|| unsafe { text(pointer) })
    }
    pub fn is_optional(&self) -> bool {
        self.port.optional
    }
}

impl ffi::HoloPort {
    fn type_of(&self) -> &ffi::HoloTensor {
        &self.r#type
    }
}

/// What a run may take, and who can end it.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'a> {
    pub time_limit: Option<Duration>,
    /// The run ends when this is not 0.
    pub cancel: Option<&'a AtomicI32>,
}

/// A compiled model: immutable, and shared freely between threads.
pub struct Model {
    pub(crate) pointer: *mut ffi::HoloModel,
}

unsafe impl Send for Model {}
unsafe impl Sync for Model {}

impl Model {
    /// Opens an archive, by mapping it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = c_path(path.as_ref())?;
        let mut pointer = ptr::null_mut();
        call(|error| unsafe { ffi::holo_model_open(path.as_ptr(), &mut pointer, error) })?;
        Ok(Model { pointer })
    }

    pub fn inputs(&self) -> Vec<Port<'_>> {
        let count = unsafe { ffi::holo_model_input_count(self.pointer) };
        (0..count).map(|i| Port { port: unsafe { &*ffi::holo_model_input(self.pointer, i) } }).collect()
    }
    pub fn outputs(&self) -> Vec<Port<'_>> {
        let count = unsafe { ffi::holo_model_output_count(self.pointer) };
        (0..count).map(|i| Port { port: unsafe { &*ffi::holo_model_output(self.pointer, i) } }).collect()
    }
    /// What the compiler wrote about it, as "source.format".
    pub fn meta(&self, key: &str) -> Option<&str> {
        let key = c_text(key).ok()?;
        let value = unsafe { ffi::holo_model_meta_find(self.pointer, key.as_ptr()) };
        (!value.is_null()).then(|| unsafe { text(value) })
    }

    /// Runs once, from inputs by their names to all outputs. Any number of threads may do so at once.
    pub fn run(&self, inputs: &[(&str, Tensor)]) -> Result<Outputs<'_>> {
        self.run_with(inputs, RunOptions::default())
    }

    pub fn run_with(&self, inputs: &[(&str, Tensor)], options: RunOptions) -> Result<Outputs<'_>> {
        let names: Vec<CString> = inputs.iter().map(|(name, _)| c_text(name)).collect::<Result<_>>()?;
        let given: Vec<ffi::HoloRunInput> = names
            .iter()
            .zip(inputs)
            .map(|(name, (_, tensor))| ffi::HoloRunInput { name: name.as_ptr(), index: -1, tensor: tensor.view })
            .collect();
        let count = unsafe { ffi::holo_model_output_count(self.pointer) };
        let mut list: Vec<ffi::HoloRunOutput> = vec![unsafe { std::mem::zeroed() }; count as usize];
        list.iter_mut().enumerate().for_each(|(i, one)| one.index = i as c_int);
        let asked = ffi::HoloRunOptions {
            size: std::mem::size_of::<ffi::HoloRunOptions>(),
            time_limit: options.time_limit.map_or(0.0, |limit| limit.as_secs_f64()),
            cancel: options.cancel.map_or(ptr::null(), |flag| flag as *const AtomicI32 as *const c_int),
        };
        call(|error| unsafe {
            ffi::holo_model_run(self.pointer, given.as_ptr(), given.len() as c_int, list.as_mut_ptr(), count, &asked, error)
        })?;
        Ok(Outputs { list, model: self })
    }

    /// A place to run it, on a pool or on the caller's thread alone.
    pub fn session<'a>(&'a self, pool: Option<&'a Pool>) -> Result<Session<'a>> {
        let mut pointer = ptr::null_mut();
        let threads = pool.map_or(ptr::null_mut(), |pool| pool.pointer);
        call(|error| unsafe { ffi::holo_session_create(self.pointer, threads, &mut pointer, error) })?;
        Ok(Session { pointer, model: self, inputs: PhantomData })
    }

    pub(crate) fn output_find(&self, name: &str) -> Result<c_int> {
        let text = c_text(name)?;
        match unsafe { ffi::holo_model_output_find(self.pointer, text.as_ptr()) } {
            -1 => Err(Error::new(ffi::HOLO_BAD_ARGUMENT, format!("there is no output {name}"))),
            index => Ok(index),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { ffi::holo_model_close(self.pointer) }
    }
}

/// What a run gave, with its memory.
pub struct Outputs<'a> {
    list: Vec<ffi::HoloRunOutput>,
    model: &'a Model,
}

unsafe impl Send for Outputs<'_> {}
unsafe impl Sync for Outputs<'_> {}

impl Outputs<'_> {
    pub fn len(&self) -> usize {
        self.list.len()
    }
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    pub fn get(&self, name: &str) -> Result<Tensor<'_>> {
        self.at(self.model.output_find(name)? as usize)
    }
    pub fn at(&self, index: usize) -> Result<Tensor<'_>> {
        match self.list.get(index) {
            Some(one) => Ok(unsafe { Tensor::of_view(one.tensor) }),
            None => Err(Error::new(ffi::HOLO_BAD_ARGUMENT, format!("there is no output {index}: there are {}", self.len()))),
        }
    }
}

impl Drop for Outputs<'_> {
    fn drop(&mut self) {
        unsafe { ffi::holo_run_outputs_free(self.list.as_mut_ptr(), self.list.len() as c_int) }
    }
}
