//! A small part of ONNX's own operator tests: the same cases as of `make onnx`, through this crate.
//!
//! The cases are in HOLO_ONNX_TESTS, or where the repository and Debian have them; where they are not, that is said.

use hologram::{Compiler, Model, Tensor, Tensors};
use std::path::{Path, PathBuf};

const CASES: [&str; 48] = [
    "abs",
    "add",
    "add_bcast",
    "and2d",
    "argmax_default_axis_example",
    "averagepool_2d_default",
    "basic_conv_with_padding",
    "batchnorm_example",
    "cast_FLOAT_to_DOUBLE",
    "ceil",
    "clip",
    "concat_2d_axis_0",
    "constant",
    "conv_with_strides_padding",
    "cumsum_1d",
    "div",
    "einsum_batch_diagonal",
    "equal",
    "erf",
    "exp",
    "expand_dim_changed",
    "flatten_axis1",
    "gather_0",
    "gemm_all_attributes",
    "globalaveragepool",
    "greater",
    "gru_defaults",
    "identity",
    "layer_normalization_2d_axis0",
    "less",
    "lstm_defaults",
    "matmul_2d",
    "matmulinteger",
    "max_example",
    "maxpool_2d_default",
    "mean_example",
    "nonzero_example",
    "not_2d",
    "onehot_with_axis",
    "pow",
    "quantizelinear",
    "range_int32_type_negative_delta",
    "reduce_sum_default_axes_keepdims_example",
    "reshape_extended_dims",
    "softmax_axis_1",
    "split_equal_parts_1d_opset13",
    "top_k",
    "where_example",
];

/// The folder of the cases, if there is one.
fn folder() -> Option<PathBuf> {
    let places = [
        std::env::var_os("HOLO_ONNX_TESTS").map(PathBuf::from),
        Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/onnx/node"))),
        Some(PathBuf::from("/usr/share/libonnx-testdata/data/node")),
    ];
    places.into_iter().flatten().find(|path| path.join("test_abs/model.onnx").exists())
}

/// As far apart as `hologram test` allows: absolute and relative.
fn is_close(want: f64, got: f64) -> bool {
    want == got || (want.is_nan() && got.is_nan()) || (want - got).abs() <= 1e-7 + 1e-3 * want.abs()
}

fn compare(name: &str, want: &Tensor, got: &Tensor) -> Result<(), String> {
    if want.dtype() != got.dtype() || want.shape() != got.shape() {
        return Err(format!("output {name} is {got:?}, and should be {want:?}"));
    }
    let (want, got) = (want.numbers(), got.numbers());
    match (0..want.len()).find(|i| !is_close(want[*i], got[*i])) {
        Some(i) => Err(format!("output {name}: element {i} is {}, and should be {}", got[i], want[i])),
        None => Ok(()),
    }
}

fn run(path: &Path, compiler: &Compiler) -> Result<(), String> {
    let told = |error: hologram::Error| error.message;
    let model: Model = compiler.model(path.join("model.onnx")).map_err(told)?;
    let data = path.join("test_data_set_0");
    let read = |kind: &str, ports: Vec<hologram::Port>| -> Result<Vec<Tensors>, String> {
        let one =
            |(i, port): (usize, &hologram::Port)| Tensors::read_as(data.join(format!("{kind}_{i}.pb")), *port).map_err(told);
        ports.iter().enumerate().map(one).collect()
    };
    let (inputs, want) = (read("input", model.inputs())?, read("output", model.outputs())?);
    let mut given = Vec::new();
    for (port, tensors) in model.inputs().iter().zip(&inputs) {
        given.push((port.name(), tensors.at(0).map_err(told)?));
    }
    let outputs = model.run(&given).map_err(told)?;
    for (port, tensors) in model.outputs().iter().zip(&want) {
        compare(port.name(), &tensors.at(0).map_err(told)?, &outputs.get(port.name()).map_err(told)?)?;
    }
    Ok(())
}

#[test]
fn operators_answer_as_onnx_says() {
    let folder = match folder() {
        Some(folder) => folder,
        None => {
            return eprintln!(
                "onnx: ONNX's tests are not here: set HOLO_ONNX_TESTS, or install libonnx-testdata. Nothing was tested"
            )
        }
    };
    let compiler = Compiler::new().unwrap();
    let (mut passed, mut failed, mut absent) = (0, Vec::new(), Vec::new());
    for case in CASES {
        let path = folder.join(format!("test_{case}"));
        if !path.exists() {
            absent.push(case);
            continue;
        }
        match run(&path, &compiler) {
            Ok(()) => passed += 1,
            Err(why) => failed.push(format!("{case}: {why}")),
        }
    }
    eprintln!("onnx: {passed} passed, {} failed, {} not there {absent:?}", failed.len(), absent.len());
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(passed >= 24, "too few cases are in {}", folder.display());
}
