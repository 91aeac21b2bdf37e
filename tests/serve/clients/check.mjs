// check.mjs URL PROTO KEY - asks the server by the npm packages `openai` and `@grpc/grpc-js`, which nobody here wrote.
import assert from 'node:assert'
import grpc from '@grpc/grpc-js'
import loader from '@grpc/proto-loader'
import OpenAI from 'openai'

const [url, proto, apiKey] = process.argv.slice(2)
const openai = new OpenAI({ baseURL: url + '/v1', apiKey, maxRetries: 0 })
const messages = [{ role: 'user', content: 'hello there' }], model = 'talker'

// ---- texts
assert((await openai.models.list()).data.some(m => m.id === model))
const whole = await openai.chat.completions.create({ model, messages, max_tokens: 20, temperature: 0, logprobs: true, top_logprobs: 2 })
assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens)
assert.equal(whole.choices[0].logprobs.content.length, whole.usage.completion_tokens)
let text = '', usage
for await (const part of await openai.chat.completions.create({ model, messages, max_tokens: 20, temperature: 0, stream: true, stream_options: { include_usage: true } })) {
  text += part.choices[0]?.delta?.content ?? ''
  usage = part.usage ?? usage
}
assert.equal(text, whole.choices[0].message.content)
assert.equal(usage.completion_tokens, whole.usage.completion_tokens)
assert((await openai.completions.create({ model, prompt: 'abc', max_tokens: 4, temperature: 0 })).choices[0].text.length > 0)
const parameters = { type: 'object', properties: { n: { type: 'integer', minimum: 0, maximum: 9 } }, required: ['n'], additionalProperties: false }
const called = await openai.chat.completions.create({ model, messages, max_tokens: 80, tools: [{ type: 'function', function: { name: 'go', parameters } }], tool_choice: 'required' })
assert.equal(called.choices[0].message.tool_calls[0].function.name, 'go')
const two = await openai.chat.completions.create({ model, messages, n: 2, max_completion_tokens: 6, seed: 7, temperature: 1, stop: ['zzzz', 'qqqq'] })
assert(two.choices.length === 2 && two.usage.completion_tokens <= 12)
const again = await openai.chat.completions.create({ model, messages, n: 2, max_completion_tokens: 6, seed: 7, temperature: 1, stop: ['zzzz', 'qqqq'] })
assert.deepEqual(again.choices.map(c => c.message.content), two.choices.map(c => c.message.content))
const formed = await openai.chat.completions.create({ model, messages, max_tokens: 80, response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: parameters } } })
assert(Number.isInteger(JSON.parse(formed.choices[0].message.content).n))
const helped = openai.beta?.chat?.completions?.stream ?? openai.chat.completions.stream?.bind(openai.chat.completions)
if (helped) {
  const stream = openai.beta?.chat?.completions?.stream ? openai.beta.chat.completions.stream({ model, messages, max_tokens: 8, temperature: 0 }) : openai.chat.completions.stream({ model, messages, max_tokens: 8, temperature: 0 })
  assert.equal((await stream.finalChatCompletion()).choices[0].message.role, 'assistant')
}
const floats = await openai.embeddings.create({ model: 'vectors', input: 'hello', encoding_format: 'float' })
const packed = await openai.embeddings.create({ model: 'vectors', input: 'hello', encoding_format: 'base64' })
const numbers = new Float32Array(new Uint8Array(Buffer.from(packed.data[0].embedding, 'base64')).buffer)
assert(floats.data[0].embedding.every((x, i) => Math.abs(x - numbers[i]) < 1e-6))
assert.equal((await openai.embeddings.create({ model: 'vectors', input: 'hello', dimensions: 4 })).data[0].embedding.length, 4)
const vectors = await openai.embeddings.create({ model: 'vectors', input: ['hello', 'there'] })
assert(vectors.data.length === 2 && vectors.data[0].embedding.every(Number.isFinite))
await assert.rejects(openai.chat.completions.create({ model: 'other', messages }), e => e.status === 404 && e.code === 'model_not_found' && e.type === 'invalid_request_error')
await assert.rejects(openai.chat.completions.create({ model, messages, temperature: 9 }), e => e.status === 400 && /temperature/.test(e.message))
await assert.rejects(new OpenAI({ baseURL: url + '/v1', apiKey: 'wrong-key', maxRetries: 0 }).models.list(), e => e.status === 401 && e.code === 'invalid_api_key')
await assert.rejects(openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'a'.repeat(70000) }] }), e => e.status === 400 && e.code === 'context_length_exceeded')

// ---- the same by /v1/responses
const ask = { model, input: 'hello there', max_output_tokens: 20, temperature: 0 }
const response = await openai.responses.create({ ...ask, instructions: 'be short' })
assert(response.output_text.length > 0 && response.usage.total_tokens === response.usage.input_tokens + response.usage.output_tokens)
let streamed = '', kinds = []
for await (const event of await openai.responses.create({ ...ask, instructions: 'be short', stream: true })) {
  kinds.push(event.type)
  if (event.type === 'response.output_text.delta') streamed += event.delta
}
assert.equal(streamed, response.output_text)
assert(kinds[0] === 'response.created' && /^response.(completed|incomplete)$/.test(kinds.at(-1)))
const tools = [{ type: 'function', name: 'go', parameters, strict: true }]
const helper = openai.responses.stream({ ...ask, max_output_tokens: 80, tools, tool_choice: 'required' })
const doing = (await helper.finalResponse()).output[0]
assert(doing.type === 'function_call' && doing.name === 'go' && Number.isInteger(JSON.parse(doing.arguments).n))
const input = [{ role: 'user', content: 'go' }, doing, { type: 'function_call_output', call_id: doing.call_id, output: 'gone' }]
assert((await openai.responses.create({ ...ask, input, tools })).output.length > 0)
const form = { format: { type: 'json_schema', name: 'n', strict: true, schema: parameters } }
assert(Number.isInteger((await openai.responses.parse({ ...ask, max_output_tokens: 80, text: form })).output_parsed.n))
await assert.rejects(openai.responses.create({ ...ask, previous_response_id: 'resp_1' }), e => e.status === 400 && /nothing is kept/.test(e.message))
await assert.rejects(openai.responses.create({ ...ask, input: 'a'.repeat(70000) }), e => e.status === 400 && e.code === 'context_length_exceeded')
const stopped = await openai.chat.completions.create({ model, messages, max_tokens: 50000, stream: true })
for await (const part of stopped) { stopped.controller.abort(); break } // the server notices
console.log('clients: openai works')

// ---- runs
const { inference } = grpc.loadPackageDefinition(loader.loadSync(proto, { longs: Number }))
const client = new inference.GRPCInferenceService(new URL(url).host, grpc.credentials.createInsecure())
const meta = new grpc.Metadata()
meta.set('authorization', 'Bearer ' + apiKey)
const call = (name, request, metadata = meta) => new Promise((done, failed) => client[name](request, metadata, (error, answer) => error ? failed(error) : done(answer)))
const request = id => ({ modelName: 'digits', id, inputs: [{ name: 'image', datatype: 'FP32', shape: [1, 1, 8, 8], contents: { fp32Contents: Array(64).fill(0.5) } }] })
assert((await call('ServerReady', {})).ready)
assert.deepEqual((await call('ModelMetadata', { name: 'digits' })).inputs[0].shape, [-1, 1, 8, 8])
const one = await call('ModelInfer', request('1'))
assert.equal(one.rawOutputContents[0].length, 40)
await assert.rejects(call('ModelInfer', { modelName: 'other' }), e => e.code === grpc.status.NOT_FOUND)
await assert.rejects(call('ModelInfer', request('1'), new grpc.Metadata()), e => e.code === grpc.status.UNAUTHENTICATED)
const ids = await new Promise((done, failed) => {
  const stream = client.ModelStreamInfer(meta), got = []
  stream.on('data', answer => got.push(answer.inferResponse.id)).on('end', () => done(got)).on('error', failed)
  for (let i = 0; i < 10; i++) stream.write(request(String(i)))
  stream.end()
})
assert.deepEqual(ids.sort(), [...Array(10).keys()].map(String))
console.log('clients: @grpc/grpc-js works')
process.exit(0)
