//! Links the library that ASSAYER_LIBRARY names, and lets the tests find it where it lies.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=ASSAYER_LIBRARY");
    let Some(path) = std::env::var_os("ASSAYER_LIBRARY").map(PathBuf::from) else {
        panic!("expected ASSAYER_LIBRARY, the path of a library that exports operations of assayer.h");
    };
    let (folder, stem) = (path.parent().and_then(|p| p.canonicalize().ok()), path.file_stem().and_then(|s| s.to_str()));
    let (Some(folder), Some(name)) = (folder, stem.and_then(|stem| stem.strip_prefix("lib"))) else {
        panic!("ASSAYER_LIBRARY: expected a file lib*.so in a folder that exists, got {}", path.display());
    };
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=dylib={name}");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
}
