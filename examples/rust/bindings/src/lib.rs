//! Safe calls to a library that exports operations of `assayer.h`.
//!
//! An operation takes arrays of the host (slices, vectors) where the library computes there, and [`DeviceArray`]s
//! everywhere. Lengths are checked before the call; whatever else the header requires the library checks, and what it
//! refuses comes back as an [`Error`].
//!
//! ```
//! # fn main() -> assayer::Result<()> {
//! let input = assayer::DeviceArray::from_host(&[-1.0, 0.0, 2.0])?;
//! let mut output = assayer::DeviceArray::zeros(3)?;
//! assayer::silu(&input, &mut output)?;
//! assert_eq!(output.to_host()?[1], 0.0);
//! # Ok(())
//! # }
//! ```

mod array;
mod device;
mod error;
#[rustfmt::skip]
#[allow(dead_code)]
mod ffi; // python -m bindings declarations --language rust
mod operations;
mod training;

pub use array::{Array, ArrayMut};
pub use device::{computes_on_device, version, DeviceArray, Element};
pub use error::{Error, Result, Status};
pub use operations::{embedding, gemm, rmsnorm, sample, silu, softmax_topk};
pub use training::{adamw_step, cross_entropy_forward, multi_scale, rmsnorm_backward, AdamW};
