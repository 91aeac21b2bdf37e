//! Compiles a model, opens the archive and runs it: cargo run --example first_run
fn main() -> hologram::Result<()> {
    hologram::compile("demo/digits.onnx", "digits.holo")?;
    let model = hologram::Model::open("digits.holo")?;
    let image = hologram::Tensors::read("demo/digits/01_is_7.npy")?;
    let outputs = model.run(&[("image", image.at(0)?)])?;
    let scores = outputs.get("probabilities")?.values::<f32>()?;
    let best = (0..10).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    println!("{}", best.unwrap()); // 7
    Ok(())
}
