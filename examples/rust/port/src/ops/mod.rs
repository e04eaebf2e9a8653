//! The operations of a training step on slices; each backward stands below its forward. The formulas are assayer.h's.
//!
//! Arrays are dense and row-major. A function trusts its caller for lengths: `exports` checks them.

pub mod attention;
pub mod decode;
pub mod elementwise;
pub mod gemm;
pub mod loss;
pub mod moe;
pub mod norm;
pub mod optimizer;
pub mod rope;
pub mod rows;
pub mod softmax;
