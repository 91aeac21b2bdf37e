// quantize.mjs PROGRAM MODEL... - how large, how exact and how fast models are in each type; prints a table in Markdown. With
// DOCS=FILE it takes the place of the table in that file, whose rows of other models stay. See README.md.
//
// A model is a path, and behind a '@' the sizes of its inputs: bert.onnx@input_ids:1,128;attention_mask:1,128. What is called
// inputs/ beside it, or MODEL.inputs, has samples; without them, and of other sizes, some are made up.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const [program, ...models] = process.argv.slice(2);
if (!models.length) {
    console.error('usage: quantize.mjs PROGRAM MODEL[@NAME:SIZES;...]...');
    process.exit(2);
}

const types = [
    ['f32', []],
    ['f16', ['--quantize', 'f16']],
    ['w8', ['--quantize', 'w8']],
    ['int4', ['--quantize', 'int4']],
    ['int8, dynamic', ['--quantize', 'int8', '--activations', 'dynamic']],
    ['int8, static', ['--quantize', 'int8', '--activations', 'static']],
];
const rounds = 3, seconds = process.env.SECONDS ?? '1';
const folder = mkdtempSync(join(tmpdir(), 'hologram-'));

function run(args) {
    const before = process.env.BENCH_PREFIX ? process.env.BENCH_PREFIX.split(' ') : [];
    const words = [...before, program, ...args];
    return JSON.parse(execFileSync(words[0], words.slice(1), { encoding: 'utf8', maxBuffer: 1 << 28 }));
}

function compile(model, shapes, options, archive) {
    const samples = [join(dirname(model), 'inputs'), model.replace(/\.onnx$/, '.inputs')].find(existsSync);
    const given = options.length && samples && !shapes.length ? ['--calibrate', samples] : [];
    const text = execFileSync(program, ['compile', model, '-o', archive, '--json', '--no-verify', ...shapes, ...options, ...given],
        { encoding: 'utf8', maxBuffer: 1 << 28 });
    return JSON.parse(text).quantization;
}

const number = (x, digits) => (x === null || x === undefined || Number.isNaN(x) ? '' : x.toFixed(digits));
const rows = ['| model | type | layers | MiB | accuracy | cosine | worst | top 1 | ms | speed |', '| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'];
for (const word of models) {
    const [model, sizes] = word.split('@');
    const name = basename(model) === 'model.onnx' ? basename(dirname(model)) : basename(model, '.onnx');
    const shapes = (sizes ?? '').split(';').filter(Boolean).flatMap((s) => ['--input-shape', s]);
    const made = [];
    for (const [type, options] of types) {
        const archive = join(folder, `${made.length}.holo`);
        try {
            made.push({ type, archive, report: compile(model, shapes, options, archive), least: Infinity });
        } catch (error) {
            console.error(`${name}, ${type}: ${error.message}`);
        }
    }
    for (let i = 0; i < rounds; i++)
        for (const m of made) m.least = Math.min(m.least, run(['bench', m.archive, '--threads', '1', '--seconds', seconds, '--json']).min_us / 1e3);
    for (const { type, archive, report: r, least } of made)
        rows.push(`| ${name} | ${type} | ${r ? `${r.narrow_layers} of ${r.layers.length}` : ''} | ${number(statSync(archive).size / 2 ** 20, 1)} | ` +
            `${number(r?.accuracy, 5)} | ${number(r?.cosine, 5)} | ${number(r?.worst, 4)} | ${number(r?.top1, 2)} | ${number(least, 2)} | ${number(made[0].least / least, 2)} |`);
}
rmSync(folder, { recursive: true });

const [head, line, ...measured] = rows;
const modelOf = (row) => row.split('|')[1].trim();
const names = new Set(measured.map(modelOf));
let all = measured;
if (process.env.DOCS) {
    const text = readFileSync(process.env.DOCS, 'utf8');
    const from = '<!-- the table of bench/quantize.mjs -->\n', to = '\n<!-- end of the table -->';
    const start = text.indexOf(from), end = text.indexOf(to, start);
    if (start < 0 || end < 0) throw new Error(`${process.env.DOCS} has no place for the table`);
    const before = text.slice(start + from.length, end).split('\n').filter((row) => row.startsWith('|')).slice(2);
    all = [...before.filter((row) => !names.has(modelOf(row))), ...measured];
    writeFileSync(process.env.DOCS, text.slice(0, start + from.length) + '\n' + [head, line, ...all].join('\n') + '\n' + text.slice(end));
}
console.log([head, line, ...all].join('\n'));
