//! Reads and writes safetensors: eight bytes with the length of a JSON header, the header, the tensors.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// One tensor: its type as the header names it, its shape, its bytes (little-endian, row-major).
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub kind: String,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

macro_rules! numbers {
    ($read:ident, $write:ident, $type:ty, $kind:literal) => {
        pub fn $read(&self) -> Option<Vec<$type>> {
            const SIZE: usize = size_of::<$type>();
            let number = |bytes: &[u8]| <$type>::from_le_bytes(bytes.try_into().expect("a whole number of them"));
            (self.kind == $kind).then(|| self.bytes.chunks_exact(SIZE).map(number).collect())
        }

        pub fn $write(shape: &[usize], values: &[$type]) -> Self {
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            Tensor { kind: $kind.to_string(), shape: shape.to_vec(), bytes }
        }
    };
}

impl Tensor {
    numbers!(f32s, of_f32s, f32, "F32");
    numbers!(i32s, of_i32s, i32, "I32");
    numbers!(i64s, of_i64s, i64, "I64");
    numbers!(u64s, of_u64s, u64, "U64");
}

/// Why a file cannot be used.
#[derive(Debug)]
pub enum Error {
    Io(PathBuf, io::Error),
    Damaged(PathBuf, &'static str),
    Lacks(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Error::Damaged(path, what) => write!(f, "{}: expected {what}, got damage", path.display()),
            Error::Lacks(what) => write!(f, "expected {what}, got a file without it"),
        }
    }
}

impl std::error::Error for Error {}

/// The tensors of a file by name.
#[derive(Clone, Debug, Default)]
pub struct File(pub BTreeMap<String, Tensor>);

impl File {
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::Io(path.to_owned(), error))?;
        let damaged = |what| Error::Damaged(path.to_owned(), what);
        let length = bytes.get(..8).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes")));
        let end = length.and_then(|n| usize::try_from(n).ok()).and_then(|n| n.checked_add(8));
        let header = end.and_then(|end| bytes.get(8..end)).ok_or_else(|| damaged("a header of the length it says"))?;
        let data = &bytes[8 + header.len()..];
        let mut parser = Parser { text: header, at: 0 };
        parser.file(data).map(File).ok_or_else(|| damaged("a header of tensors that lie in the file"))
    }

    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let (mut header, mut data) = (String::from("{"), Vec::<u8>::new());
        for (name, tensor) in &self.0 {
            let (comma, start) = (if data.is_empty() { "" } else { "," }, data.len());
            data.extend(&tensor.bytes);
            let (kind, shape, end) = (&tensor.kind, &tensor.shape, data.len());
            header +=
                &format!(r#"{comma}"{name}":{{"dtype":"{kind}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#);
        }
        header += "}";
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        bytes.extend(data);
        std::fs::write(path, bytes).map_err(|error| Error::Io(path.to_owned(), error))
    }

    pub fn get(&self, name: &str) -> Result<&Tensor, Error> {
        self.0.get(name).ok_or_else(|| Error::Lacks(name.to_string()))
    }

    pub fn f32s(&self, name: &str) -> Result<Vec<f32>, Error> {
        self.get(name)?.f32s().ok_or_else(|| Error::Lacks(format!("{name} of type F32")))
    }

    pub fn i32s(&self, name: &str) -> Result<Vec<i32>, Error> {
        self.get(name)?.i32s().ok_or_else(|| Error::Lacks(format!("{name} of type I32")))
    }

    pub fn i64s(&self, name: &str) -> Result<Vec<i64>, Error> {
        self.get(name)?.i64s().ok_or_else(|| Error::Lacks(format!("{name} of type I64")))
    }

    /// A whole number, as I64 or as I32.
    pub fn whole(&self, name: &str) -> Result<usize, Error> {
        let tensor = self.get(name)?;
        let found = tensor.i64s().or_else(|| Some(tensor.i32s()?.iter().map(|n| i64::from(*n)).collect()));
        let number = found.and_then(|n| <[i64; 1]>::try_from(n).ok()).and_then(|[n]| usize::try_from(n).ok());
        number.ok_or_else(|| Error::Lacks(format!("{name}, a whole number of at least 0")))
    }

    pub fn number(&self, name: &str) -> Result<f32, Error> {
        let number = <[f32; 1]>::try_from(self.f32s(name)?).map(|[number]| number);
        number.map_err(|_| Error::Lacks(format!("{name}, one number")))
    }
}

/// As much of JSON as a header has: an object of objects with a string and two lists of whole numbers
/// each, and perhaps one of strings, `__metadata__`.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn file(&mut self, data: &[u8]) -> Option<BTreeMap<String, Tensor>> {
        let mut found = BTreeMap::new();
        self.mark(b'{')?;
        while self.mark(b'}').is_none() {
            let name = self.string()?;
            self.mark(b':')?;
            if name == "__metadata__" {
                self.metadata()?;
            } else {
                found.insert(name, self.tensor(data)?);
            }
            self.mark(b',');
        }
        self.space();
        (self.at == self.text.len()).then_some(found)
    }

    /// Texts about the file, which are not kept.
    fn metadata(&mut self) -> Option<()> {
        self.mark(b'{')?;
        while self.mark(b'}').is_none() {
            self.string()?;
            self.mark(b':')?;
            self.string()?;
            self.mark(b',');
        }
        Some(())
    }

    fn tensor(&mut self, data: &[u8]) -> Option<Tensor> {
        let (mut kind, mut shape, mut offsets) = (None, None, None);
        self.mark(b'{')?;
        while self.mark(b'}').is_none() {
            let key = self.string()?;
            self.mark(b':')?;
            match key.as_str() {
                "dtype" => kind = Some(self.string()?),
                "shape" => shape = Some(self.list()?),
                "data_offsets" => offsets = Some(self.list()?),
                _ => return None,
            }
            self.mark(b',');
        }
        let (kind, shape, offsets) = (kind?, shape?, offsets?);
        let bits = ["8", "16", "32", "64"].iter().find(|bits| kind.ends_with(*bits))?.parse::<usize>().ok()?;
        let size = shape.iter().try_fold(bits / 8, |size, axis| size.checked_mul(*axis))?;
        let bytes = data.get(*offsets.first()?..*offsets.get(1)?)?;
        (bytes.len() == size).then(|| Tensor { kind, shape, bytes: bytes.to_vec() })
    }

    fn list(&mut self) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        self.mark(b'[')?;
        while self.mark(b']').is_none() {
            self.space();
            let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let digits = std::str::from_utf8(&self.text[self.at..self.at + digits]).ok()?;
            self.at += digits.len();
            found.push(digits.parse().ok()?);
            self.mark(b',');
        }
        Some(found)
    }

    fn string(&mut self) -> Option<String> {
        self.mark(b'"')?;
        let length = self.text[self.at..].iter().position(|byte| *byte == b'"')?;
        let text = std::str::from_utf8(&self.text[self.at..self.at + length]).ok()?;
        self.at += length + 1;
        (!text.contains('\\')).then(|| text.to_string())
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn mark(&mut self, mark: u8) -> Option<()> {
        self.space();
        (self.text.get(self.at) == Some(&mark)).then(|| self.at += 1)
    }
}
