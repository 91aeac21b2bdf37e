//! Hologram: runs and compiles trained models.
//!
//! A [`Model`] is an opened archive that all threads may share and run at once. A [`Session`] is one place where it runs, with the
//! memory for that. A [`Tensor`] is a view: it copies nothing, and cannot outlive what it views. [`Compiler`] makes archives of
//! models. Every function of the C API is in [`ffi`].
//!
//! ```no_run
//! let model = hologram::Model::open("digits.holo")?;
//! let pixels = [0.5f32; 64];
//! let outputs = model.run(&[("image", hologram::Tensor::new(&pixels, &[1, 1, 8, 8])?)])?;
//! println!("{:?}", outputs.get("probabilities")?.values::<f32>()?);
//! # Ok::<(), hologram::Error>(())
//! ```

mod error;
mod model;
mod session;
mod tensor;

#[cfg(feature = "compiler")]
mod compiler;
#[cfg(feature = "compiler")]
mod tensors;

/// The C API as it is, made from its description when this crate is built.
#[allow(non_upper_case_globals, clippy::all, missing_docs)]
pub mod ffi {
    include!(concat!(env!("OUT_DIR"), "/ffi.rs"));
}

pub use error::{Error, Result};
pub use model::{Model, Outputs, Pool, Port, RunOptions};
pub use session::Session;
pub use tensor::{Dtype, Element, Tensor};

#[cfg(feature = "compiler")]
pub use compiler::{compile, Compiler, Report};
#[cfg(feature = "compiler")]
pub use tensors::Tensors;

/// The version of the library that is in use: "0.2.0".
pub fn version() -> &'static str {
    // The text is the library's own, and stays.
    unsafe { error::text(ffi::holo_version()) }
}
