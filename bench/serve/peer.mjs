// peer.mjs MODEL.onnx PORT - a minimal server on onnxruntime-node, as a person would write one: KServe's binary form, one run a request.
import { createServer } from 'node:http'
import { InferenceSession, Tensor } from 'onnxruntime-node'

const [path, port] = process.argv.slice(2)
const session = await InferenceSession.create(path, { executionProviders: ['cpu'] })

createServer((request, response) => {
  const pieces = []
  request.on('data', piece => pieces.push(piece))
  request.on('end', async () => {
    const body = Buffer.concat(pieces), size = Number(request.headers['inference-header-content-length'])
    const head = JSON.parse(body.subarray(0, size)), feeds = {}
    let at = size
    for (const input of head.inputs) {
      const bytes = input.parameters.binary_data_size, copy = new Uint8Array(body.subarray(at, at + bytes))
      feeds[input.name] = input.datatype === 'INT64' ? new Tensor('int64', new BigInt64Array(copy.buffer), input.shape) : new Tensor('float32', new Float32Array(copy.buffer), input.shape)
      at += bytes
    }
    const results = await session.run(feeds)
    const outputs = session.outputNames.map(name => ({ name, datatype: 'FP32', shape: results[name].dims, parameters: { binary_data_size: results[name].data.byteLength } }))
    const answer = Buffer.from(JSON.stringify({ model_name: 'm', outputs }))
    response.setHeader('inference-header-content-length', answer.length)
    response.end(Buffer.concat([answer, ...session.outputNames.map(name => Buffer.from(results[name].data.buffer))]))
  })
}).listen(Number(port), 'localhost', () => console.log('listening'))
