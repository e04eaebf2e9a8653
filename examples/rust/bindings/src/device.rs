//! Arrays that the library allocates where it computes, and what it says of itself.

use crate::array::size;
use crate::error::{checked, Result};
use crate::ffi;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::OnceLock;

mod sealed {
    pub trait Number {}
}

/// A number that arrays hold: any bits are one.
pub trait Element: Copy + sealed::Number {}

macro_rules! elements {
    ($($type:ty),*) => { $(impl sealed::Number for $type {} impl Element for $type {})* };
}
elements!(f32, i32, i64, u64);

/// Whether arrays lie in the memory of a device; false too where the library does not say.
pub fn computes_on_device() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut value = 0;
        // SAFETY: a string that ends in 0, and a number to write.
        let code = unsafe { ffi::assayer_capability(c"device_memory".as_ptr(), &mut value) };
        code == 0 && value == 1
    })
}

/// The version of the header that the library was built from.
pub fn version() -> Result<i32> {
    let mut version = 0;
    // SAFETY: a number to write.
    checked("assayer_version", unsafe { ffi::assayer_version(&mut version) })?;
    Ok(version)
}

/// An array of the library's own memory: of the device, or of the host where there is none. It is freed when it is dropped.
#[derive(Debug)]
pub struct DeviceArray<T: Element> {
    memory: *mut c_void,
    length: usize,
    held: PhantomData<T>,
}

impl<T: Element> DeviceArray<T> {
    /// An array of `length` zeros.
    pub fn zeros(length: usize) -> Result<Self> {
        let array = Self::allocate(length)?;
        // SAFETY: the memory has these bytes, and bytes of 0 are a number.
        checked("assayer_fill", unsafe { ffi::assayer_fill(array.memory, 0, array.bytes()?, null_mut()) })?;
        Ok(array)
    }

    pub fn from_host(values: &[T]) -> Result<Self> {
        let array = Self::allocate(values.len())?;
        // SAFETY: both have these bytes; `values` is there until the copy has ended.
        unsafe { copy(array.memory, values.as_ptr().cast(), array.bytes()?)? };
        Ok(array)
    }

    /// The numbers, once all that writes them has been done.
    pub fn to_host(&self) -> Result<Vec<T>> {
        let mut values: Vec<T> = Vec::with_capacity(self.length);
        // SAFETY: there is room for these bytes, and all of them were written when the copy has ended.
        unsafe {
            copy(values.as_mut_ptr().cast(), self.memory, self.bytes()?)?;
            values.set_len(self.length);
        }
        Ok(values)
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(crate) fn first(&self) -> *mut T {
        self.memory.cast()
    }

    fn allocate(length: usize) -> Result<Self> {
        let mut array = DeviceArray { memory: null_mut(), length, held: PhantomData };
        // SAFETY: an address to write.
        checked("assayer_allocate", unsafe { ffi::assayer_allocate(&mut array.memory, array.bytes()?) })?;
        Ok(array)
    }

    fn bytes(&self) -> Result<i64> {
        size("length", self.length.saturating_mul(size_of::<T>()))
    }
}

impl<T: Element> Drop for DeviceArray<T> {
    fn drop(&mut self) {
        if !self.memory.is_null() {
            // SAFETY: assayer_allocate gave it, nobody else frees it, and calls that use it came before on the same stream.
            unsafe { ffi::assayer_free(self.memory) };
        }
    }
}

/// # Safety
/// Both addresses have `bytes` bytes.
unsafe fn copy(to: *mut c_void, from: *const c_void, bytes: i64) -> Result<()> {
    checked("assayer_copy", ffi::assayer_copy(to, from, bytes, null_mut()))?;
    checked("assayer_synchronize", ffi::assayer_synchronize(null_mut()))
}
