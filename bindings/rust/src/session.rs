//! One place where a model runs.

use crate::error::{c_text, call};
use crate::{ffi, Error, Model, Result, Tensor};
use std::marker::PhantomData;
use std::time::Duration;

/// Owns the memory of a run. Inputs are read where they are, so they must outlive the session; outputs are views until the next
/// run. The compiler sees to both:
///
/// ```compile_fail,E0597
/// # fn f(model: &hologram::Model) -> hologram::Result<()> {
/// let mut session = model.session(None)?;
/// {
///     let pixels = [0f32; 64];
///     session.set("image", hologram::Tensor::new(&pixels, &[1, 1, 8, 8])?)?;
/// } // the pixels are gone
/// session.run()
/// # }
/// ```
/// ```compile_fail,E0502
/// # fn f(mut session: hologram::Session) -> hologram::Result<()> {
/// let view = session.output("scores")?;
/// session.run()?; // the view ends here
/// println!("{:?}", view.bytes());
/// # Ok(())
/// # }
/// ```
pub struct Session<'a> {
    pub(crate) pointer: *mut ffi::HoloSession,
    pub(crate) model: &'a Model,
    pub(crate) inputs: PhantomData<&'a [u8]>,
}

// It may be handed on; only one thread at a time can have it.
unsafe impl Send for Session<'_> {}

impl<'a> Session<'a> {
    /// Gives an input, for all runs to come.
    pub fn set(&mut self, name: &str, tensor: Tensor<'a>) -> Result<()> {
        let text = c_text(name)?;
        let index = unsafe { ffi::holo_model_input_find(self.model.pointer, text.as_ptr()) };
        if index < 0 {
            return Err(Error::new(ffi::HOLO_BAD_ARGUMENT, format!("there is no input {name}")));
        }
        call(|error| unsafe { ffi::holo_session_set_input(self.pointer, index, &tensor.view, error) })
    }
    pub fn run(&mut self) -> Result<()> {
        call(|error| unsafe { ffi::holo_session_run(self.pointer, error) })
    }
    /// What the last run gave. The view ends before the next run.
    pub fn output(&self, name: &str) -> Result<Tensor<'_>> {
        let index = self.model.output_find(name)?;
        let mut view: ffi::HoloTensor = unsafe { std::mem::zeroed() };
        call(|error| unsafe { ffi::holo_session_output(self.pointer, index, &mut view, error) })?;
        Ok(unsafe { Tensor::of_view(view) })
    }
    pub fn set_time_limit(&mut self, limit: Duration) -> Result<()> {
        call(|error| unsafe { ffi::holo_session_set_time_limit(self.pointer, limit.as_secs_f64(), error) })
    }
    /// Bytes of working memory that it holds.
    pub fn memory(&self) -> usize {
        unsafe { ffi::holo_session_memory(self.pointer) }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        unsafe { ffi::holo_session_destroy(self.pointer) }
    }
}
