//! Writes the C API as Rust declares it: constants, enums as numbers, structs, callbacks and functions, with their comments.

use crate::json::Json;

/// Names of C that mean something in Rust.
const KEYWORDS: [&str; 12] = ["type", "in", "fn", "loop", "match", "move", "ref", "mod", "use", "where", "impl", "box"];

fn name_of(json: &Json) -> String {
    let name = json.get("name").text();
    if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_string()
    }
}

fn base_of(name: &str) -> &str {
    match name {
        "char" => "c_char",
        "int" => "c_int",
        "void" => "c_void",
        "float" => "f32",
        "double" => "f64",
        "size_t" => "usize",
        "int8_t" => "i8",
        "int16_t" => "i16",
        "int32_t" => "i32",
        "int64_t" => "i64",
        "uint8_t" => "u8",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        other => other,
    }
}

/// `const char *const *` becomes `*const *const c_char`: each star is a pointer to what stands before it.
fn type_of(spelling: &str) -> String {
    let mut parts = spelling.split('*');
    let base: Vec<&str> = parts.next().unwrap_or("").split_whitespace().collect();
    let mut is_const = base.contains(&"const");
    let mut text = base_of(base.last().copied().unwrap_or("")).to_string();
    for qualifiers in parts {
        text = format!("*{} {text}", if is_const { "const" } else { "mut" });
        is_const = qualifiers.contains("const");
    }
    text
}

fn params_of(json: &Json) -> String {
    let list = json.get("params").list().iter();
    list.map(|one| format!("{}: {}", name_of(one), type_of(one.get("type").text()))).collect::<Vec<_>>().join(", ")
}

fn result_of(json: &Json) -> String {
    match json.get("returns").text() {
        "void" => String::new(),
        kind => format!(" -> {}", type_of(kind)),
    }
}

/// A pointer to a function, which may be NULL.
fn pointer_of(json: &Json) -> String {
    format!("Option<unsafe extern \"C\" fn({}){}>", params_of(json), result_of(json))
}

fn comment(out: &mut String, indent: &str, json: &Json) {
    let doc = json.get("doc").text();
    if !doc.is_empty() {
        // What looks like markup is meant as it stands.
        out.push_str(&format!("{indent}/// {}\n", doc.replace('[', "\\[").replace('<', "\\<")));
    }
}

fn enums(out: &mut String, api: &Json) {
    for one in api.get("constants").list() {
        comment(out, "", one);
        out.push_str(&format!("pub const {}: u64 = {};\n", name_of(one), one.get("value").number().unwrap_or(0)));
    }
    for one in api.get("enums").list() {
        let name = name_of(one);
        comment(out, "", one);
        out.push_str(&format!("pub type {name} = u32;\n"));
        for value in one.get("values").list() {
            comment(out, "", value);
            out.push_str(&format!("pub const {}: {name} = {};\n", name_of(value), value.get("value").number().unwrap_or(0)));
        }
    }
}

fn structs(out: &mut String, api: &Json) {
    for one in api.get("objects").list() {
        comment(out, "", one);
        out.push_str(&format!("#[repr(C)]\npub struct {} {{\n    _inside: [u8; 0],\n}}\n", name_of(one)));
    }
    for one in api.get("structs").list() {
        comment(out, "", one);
        out.push_str(&format!("#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {} {{\n", name_of(one)));
        for field in one.get("fields").list() {
            let inner = if field.get("returns") == &Json::Null { type_of(field.get("type").text()) } else { pointer_of(field) };
            let kind = field.get("array").number().map_or(inner.clone(), |count| format!("[{inner}; {count}]"));
            comment(out, "    ", field);
            out.push_str(&format!("    pub {}: {kind},\n", name_of(field)));
        }
        out.push_str("}\n");
    }
    for one in api.get("callbacks").list() {
        comment(out, "", one);
        out.push_str(&format!("pub type {} = {};\n", name_of(one), pointer_of(one)));
    }
}

fn functions(out: &mut String, api: &Json, has_compiler: bool) {
    out.push_str("extern \"C\" {\n");
    for one in api.get("functions").list() {
        if one.get("library").text() == "compiler" && !has_compiler {
            continue;
        }
        comment(out, "    ", one);
        let must = if one.get("must_check") == &Json::Bool(true) { "#[must_use]\n    " } else { "" };
        out.push_str(&format!("    {must}pub fn {}({}){};\n", name_of(one), params_of(one), result_of(one)));
    }
    out.push_str("}\n");
}

/// The types of elements by their short names: Dtype::F32.
fn dtypes(out: &mut String, api: &Json) {
    let all = api.get("enums").list();
    let values = all.iter().find(|one| one.get("name").text() == "HoloDtype").map_or(&[][..], |one| one.get("values").list());
    out.push_str("impl crate::Dtype {\n");
    for value in values.iter().filter(|value| value.get("text") != &Json::Null) {
        let name = value.get("name").text().trim_start_matches("HOLO_");
        out.push_str(&format!("    pub const {name}: Self = Self({});\n", value.get("value").number().unwrap_or(0)));
    }
    out.push_str("}\n");
}

pub fn module(api: &Json, has_compiler: bool) -> String {
    let mut out = String::from("use std::os::raw::{c_char, c_int, c_void};\n");
    enums(&mut out, api);
    structs(&mut out, api);
    functions(&mut out, api, has_compiler);
    dtypes(&mut out, api);
    out
}
