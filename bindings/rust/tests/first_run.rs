//! The safe layer over the demo's model. It runs in the repository: HOLOGRAM_ROOT, or two folders up.

use hologram::{ffi, Compiler, Dtype, Model, Pool, RunOptions, Tensor, Tensors};
use std::path::PathBuf;
use std::sync::atomic::AtomicI32;
use std::time::Duration;

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
fn digits() -> PathBuf {
    root().join("demo/digits.onnx")
}
fn model() -> Model {
    Compiler::new().unwrap().model(digits()).unwrap()
}
fn best(scores: &[f32]) -> usize {
    (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap()
}
fn fails<T>(result: hologram::Result<T>, status: ffi::HoloStatus, words: &str) {
    match result {
        Ok(_) => panic!("it succeeds, where {words:?} was expected"),
        Err(error) => {
            assert!(error.to_string().contains(words), "{words:?} is not in {:?}", error.message);
            assert_eq!(error.status, status);
        }
    }
}

#[test]
fn the_demo_reads_digits() {
    let archive = std::env::temp_dir().join(format!("hologram-rust-{}.holo", std::process::id()));
    assert!(hologram::compile(digits(), &archive).unwrap().verified);
    let model = Model::open(&archive).unwrap();
    let mut read = 0;
    for file in std::fs::read_dir(root().join("demo/digits")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let image = Tensors::read(&path).unwrap();
        let outputs = model.run(&[("image", image.at(0).unwrap())]).unwrap();
        let scores = outputs.get("probabilities").unwrap().values::<f32>().unwrap();
        read += usize::from(name.ends_with(&best(scores).to_string()));
    }
    std::fs::remove_file(&archive).unwrap();
    assert!(read >= 19, "{read} of 20 digits are read");
}

#[test]
fn ports_say_what_the_model_takes() {
    let model = model();
    let image = model.inputs()[0];
    assert_eq!((image.name(), image.dtype(), image.shape()), ("image", Dtype::F32, &[-1, 1, 8, 8][..]));
    assert!(image.symbol(0).is_some() && image.symbol(1).is_none() && image.symbol(99).is_none() && !image.is_optional());
    assert_eq!((model.outputs().len(), model.outputs()[0].name()), (1, "probabilities"));
    assert_eq!((model.meta("source.format"), model.meta("no.such")), (Some("ONNX"), None));
    assert_eq!((Dtype::BF16.name(), format!("{:?}", Dtype::I64)), ("bf16", "i64".to_string()));
    assert_eq!(hologram::version(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn sessions_read_inputs_where_they_are() {
    let (model, pool) = (model(), Pool::new(2).unwrap());
    let pixels: Vec<f32> = (0..128).map(|i| (i % 17) as f32 / 16.0).collect();
    let mut session = model.session(Some(&pool)).unwrap();
    assert_eq!(pool.threads(), 2);
    fails(session.output("probabilities"), ffi::HOLO_BAD_ARGUMENT, "not run");
    session.set("image", Tensor::new(&pixels, &[2, 1, 8, 8]).unwrap()).unwrap();
    session.set_time_limit(Duration::from_secs(100)).unwrap();
    session.run().unwrap();
    let scores = session.output("probabilities").unwrap();
    assert_eq!((scores.shape(), scores.count(), format!("{scores:?}")), (&[2, 10][..], 20, "f32[2, 10]".to_string()));
    let once = model.run(&[("image", Tensor::new(&pixels, &[2, 1, 8, 8]).unwrap())]).unwrap();
    assert_eq!(once.at(0).unwrap().bytes(), scores.bytes());
    assert!(session.memory() > 0);
}

#[test]
fn all_threads_share_a_model() {
    let model = model();
    let pixels = [0.5f32; 64];
    let want = model.run(&[("image", Tensor::new(&pixels, &[1, 1, 8, 8]).unwrap())]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let got = model.run(&[("image", Tensor::new(&pixels, &[1, 1, 8, 8]).unwrap())]).unwrap();
                assert_eq!(got.at(0).unwrap().bytes(), want.at(0).unwrap().bytes());
            });
        }
    });
}

#[test]
fn what_is_wrong_is_told() {
    let model = model();
    let pixels = [0f32; 64];
    let image = Tensor::new(&pixels, &[1, 1, 8, 8]).unwrap();
    fails(Model::open("no-such.holo"), ffi::HOLO_NO_FILE, "no-such.holo");
    fails(Model::open("no\0such"), ffi::HOLO_BAD_ARGUMENT, "zero byte");
    fails(Tensor::new(&pixels, &[2, 1, 8, 8]), ffi::HOLO_BAD_ARGUMENT, "takes 512 bytes, and 256 are given");
    fails(Tensor::new(&pixels, &[-1, 64]), ffi::HOLO_BAD_ARGUMENT, "no f32 elements");
    fails(Tensor::new(&pixels, &[1; 17]), ffi::HOLO_BAD_ARGUMENT, "at most 16 dimensions");
    fails(model.run(&[("x", image)]), ffi::HOLO_BAD_ARGUMENT, "no input x");
    fails(model.run(&[]), ffi::HOLO_BAD_INPUT, "image");
    fails(model.session(None).unwrap().set("x", image), ffi::HOLO_BAD_ARGUMENT, "no input x");
    let wide = [0f64; 64];
    fails(model.run(&[("image", Tensor::new(&wide, &[1, 1, 8, 8]).unwrap())]), ffi::HOLO_BAD_INPUT, "image");
    let outputs = model.run(&[("image", image)]).unwrap();
    fails(outputs.get("logits"), ffi::HOLO_BAD_ARGUMENT, "no output logits");
    fails(outputs.at(1), ffi::HOLO_BAD_ARGUMENT, "no output 1: there are 1");
    fails(outputs.at(0).unwrap().values::<i64>(), ffi::HOLO_BAD_ARGUMENT, "these are f32");
    fails(outputs.at(0).unwrap().strings(), ffi::HOLO_BAD_ARGUMENT, "these are f32");
    let flags = [2u8];
    fails(Tensor::of_bytes(Dtype::BOOL, &flags, &[1]).unwrap().values::<bool>(), ffi::HOLO_BAD_ARGUMENT, "bool");
}

#[test]
fn runs_and_compiles_end_early() {
    let model = model();
    let pixels = [0f32; 64];
    let image = Tensor::new(&pixels, &[1, 1, 8, 8]).unwrap();
    let (stop, limit) = (AtomicI32::new(1), Some(Duration::from_nanos(1)));
    let cancelled = RunOptions { cancel: Some(&stop), ..Default::default() };
    fails(model.run_with(&[("image", image)], cancelled), ffi::HOLO_CANCELLED, "cancelled");
    let late = RunOptions { time_limit: limit, ..Default::default() };
    fails(model.run_with(&[("image", image)], late), ffi::HOLO_TIMEOUT, "longer");
    let compiler = Compiler::new().unwrap();
    compiler.cancel(); // nothing is in progress
    assert!(compiler.model(digits()).is_ok());
}

#[test]
fn models_and_samples_from_memory() {
    let bytes = std::fs::read(digits()).unwrap();
    let mut compiler = Compiler::new().unwrap();
    compiler.set_shape("image", &[1, 1, 8, 8]).unwrap();
    compiler.set_threads(1);
    compiler.set_exact(true);
    assert_eq!(compiler.model_of_bytes(&bytes).unwrap().inputs()[0].shape(), [1, 1, 8, 8]);
    fails(compiler.model_of_bytes(b"...."), ffi::HOLO_BAD_MODEL, "not a model");
    let samples: Vec<f32> = (0..1024).map(|i| (i % 17) as f32 / 16.0).collect();
    let mut narrow = Compiler::new().unwrap();
    narrow.set_quantize(ffi::HOLO_QUANTIZE_INT8);
    narrow.set_verify(false);
    narrow.add_sample(&[("image", Tensor::new(&samples, &[16, 1, 8, 8]).unwrap())]).unwrap();
    assert!(narrow.model(digits()).is_ok());
    narrow.add_sample(&[("x", Tensor::new(&samples, &[16, 1, 8, 8]).unwrap())]).unwrap();
    fails(narrow.model(digits()), ffi::HOLO_BAD_INPUT, "no input x");
}
