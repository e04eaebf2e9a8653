//! What can be wrong with a call.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

/// What the library answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Unavailable,
    /// An argument is null, negative, too large or breaks a condition of the header; nothing was written.
    Invalid,
    NoMemory,
    Unsupported,
    /// Any other code: a positive one is of the device's runtime.
    Other(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An array is not as long as the others ask for.
    Length { argument: &'static str, expected: usize, got: usize },
    /// An array is no whole number of rows, of which there has to be one at least.
    Rows { argument: &'static str, width: usize, got: usize },
    /// A size that the header passes in 32 bits, or a number of bytes in 63, is larger.
    TooLarge { argument: &'static str, got: usize },
    /// An array of the host where the library computes on a device.
    OnHost { argument: &'static str },
    /// The library did not do it.
    Call { operation: &'static str, status: Status },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Length { argument, expected, got } => {
                write!(f, "{argument}: expected {expected} elements, got {got}")
            }
            Error::Rows { argument, width, got } => {
                write!(f, "{argument}: expected one or more rows of {width}, at least 1, got {got} elements")
            }
            Error::TooLarge { argument, got } => {
                write!(f, "{argument}: expected a size that the header can say, got {got}")
            }
            Error::OnHost { argument } => write!(f, "{argument}: expected an array of the device, got one of the host"),
            Error::Call { operation, status } => write!(f, "{operation}: {status}"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Status::Unavailable => f.write_str("not in this build"),
            Status::Invalid => f.write_str("refused: an argument breaks a condition of the header"),
            Status::NoMemory => f.write_str("no memory"),
            Status::Unsupported => f.write_str("not on this device"),
            Status::Other(code) => write!(f, "failed with code {code}"),
        }
    }
}

/// The header's codes as a result.
pub(crate) fn checked(operation: &'static str, code: i32) -> Result<()> {
    let status = match code {
        0 => return Ok(()),
        -1 => Status::Unavailable,
        -2 => Status::Invalid,
        -3 => Status::NoMemory,
        -4 => Status::Unsupported,
        other => Status::Other(other),
    };
    Err(Error::Call { operation, status })
}
