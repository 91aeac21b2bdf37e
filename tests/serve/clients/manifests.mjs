// manifests.mjs < LIST.json - checks objects of Kubernetes against its published schemas, as the npm package `kubernetes-models` has them.
import assert from 'node:assert'
import { readFileSync } from 'node:fs'

let count = 0
for (const object of JSON.parse(readFileSync(0, 'utf8'))) {
  const { [object.kind]: Kind } = await import('kubernetes-models/' + object.apiVersion)
  assert(Kind, `there is no ${object.kind} in ${object.apiVersion}`)
  new Kind(object).validate() // throws
  count++
}
// It does see mistakes.
const { Deployment } = await import('kubernetes-models/apps/v1')
assert.throws(() => new Deployment({ spec: { replicas: 'two', selector: {}, template: {} } }).validate())
console.log(`clients: ${count} objects of Kubernetes are valid`)
