//! Makes the module `ffi` from the description of the C API (hologram.json), and says where the libraries are.
//!
//! HOLOGRAM_INCLUDE_DIR and HOLOGRAM_LIB_DIR say where headers and libraries are; else pkg-config does.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

mod ffi;
mod json;

/// A folder: from the environment, from pkg-config, or where `make install` puts it.
fn folder(setting: &str, variable: &str, fallback: &str) -> PathBuf {
    println!("cargo:rerun-if-env-changed={setting}");
    if let Some(path) = env::var_os(setting) {
        return PathBuf::from(path);
    }
    let found = Command::new("pkg-config").arg(format!("--variable={variable}")).arg("hologram").output();
    match found {
        Ok(output) if output.status.success() => PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()),
        _ => PathBuf::from(fallback),
    }
}

fn main() {
    let description = folder("HOLOGRAM_INCLUDE_DIR", "includedir", "/usr/local/include").join("hologram.json");
    let libraries = folder("HOLOGRAM_LIB_DIR", "libdir", "/usr/local/lib");
    let has_compiler = env::var_os("CARGO_FEATURE_COMPILER").is_some();
    println!("cargo:rerun-if-changed={}", description.display());
    for file in ["build.rs", "ffi.rs", "json.rs"] {
        println!("cargo:rerun-if-changed=build/{file}");
    }
    let text = fs::read_to_string(&description)
        .unwrap_or_else(|error| panic!("{}: {error}: install Hologram, or set HOLOGRAM_INCLUDE_DIR", description.display()));
    let api = json::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", description.display()));
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("ffi.rs");
    fs::write(&out, ffi::module(&api, has_compiler)).unwrap_or_else(|error| panic!("{}: {error}", out.display()));

    println!("cargo:rustc-link-search=native={}", libraries.display());
    if has_compiler {
        println!("cargo:rustc-link-lib=dylib=hologram-compiler");
    }
    println!("cargo:rustc-link-lib=dylib=hologram");
}
