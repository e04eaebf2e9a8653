//! What an operation is given: a slice or an array of the device, to read or to write.

use crate::device::{computes_on_device, DeviceArray, Element};
use crate::error::{Error, Result};
use std::marker::PhantomData;

/// An array that an operation reads.
#[derive(Clone, Copy)]
pub struct Array<'a, T> {
    first: *const T,
    length: usize,
    on_host: bool,
    borrowed: PhantomData<&'a [T]>,
}

/// An array that an operation writes, or reads and writes. Nobody else has it meanwhile, so that it overlaps no other.
pub struct ArrayMut<'a, T> {
    first: *mut T,
    length: usize,
    on_host: bool,
    borrowed: PhantomData<&'a mut [T]>,
}

impl<'a, T: Element, S: AsRef<[T]> + ?Sized> From<&'a S> for Array<'a, T> {
    fn from(values: &'a S) -> Self {
        let values = values.as_ref();
        Array { first: values.as_ptr(), length: values.len(), on_host: true, borrowed: PhantomData }
    }
}

impl<'a, T: Element, S: AsMut<[T]> + ?Sized> From<&'a mut S> for ArrayMut<'a, T> {
    fn from(values: &'a mut S) -> Self {
        let values = values.as_mut();
        ArrayMut { first: values.as_mut_ptr(), length: values.len(), on_host: true, borrowed: PhantomData }
    }
}

impl<'a, T: Element> From<&'a DeviceArray<T>> for Array<'a, T> {
    fn from(array: &'a DeviceArray<T>) -> Self {
        Array { first: array.first(), length: array.len(), on_host: false, borrowed: PhantomData }
    }
}

impl<'a, T: Element> From<&'a mut DeviceArray<T>> for ArrayMut<'a, T> {
    fn from(array: &'a mut DeviceArray<T>) -> Self {
        ArrayMut { first: array.first(), length: array.len(), on_host: false, borrowed: PhantomData }
    }
}

impl<T> Array<'_, T> {
    /// The address, if the array has the length that is due and lies where the library computes.
    pub(crate) fn read(&self, argument: &'static str, expected: usize) -> Result<*const T> {
        usable(argument, self.length, expected, self.on_host)?;
        Ok(self.first)
    }

    /// How many rows of `width` there are.
    pub(crate) fn rows(&self, argument: &'static str, width: usize) -> Result<usize> {
        match self.length.checked_div(width) {
            Some(rows) if rows > 0 && self.length % width == 0 => Ok(rows),
            _ => Err(Error::Rows { argument, width, got: self.length }),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }
}

impl<T> ArrayMut<'_, T> {
    pub(crate) fn write(&self, argument: &'static str, expected: usize) -> Result<*mut T> {
        usable(argument, self.length, expected, self.on_host)?;
        Ok(self.first)
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }
}

fn usable(argument: &'static str, got: usize, expected: usize, on_host: bool) -> Result<()> {
    if got != expected {
        return Err(Error::Length { argument, expected, got });
    }
    if on_host && computes_on_device() {
        return Err(Error::OnHost { argument });
    }
    Ok(())
}

/// A size as the header passes it.
pub(crate) fn size<N: TryFrom<usize>>(argument: &'static str, got: usize) -> Result<N> {
    N::try_from(got).map_err(|_| Error::TooLarge { argument, got })
}
