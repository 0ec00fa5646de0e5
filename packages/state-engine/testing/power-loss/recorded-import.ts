// Imports a state in parts, whose number it prints after each, and finishes.
import { openStateEngine, type WriterOptions } from '../../src/index.js'

const [path, parts, options] = process.argv.slice(2) as [string, string, string]
const PART = 40

const engine = openStateEngine({ path, ...(JSON.parse(options) as Omit<WriterOptions, 'path'>) })
const state = await engine.beginImport(7n, { resume: true })
for (let part = state.entryCount / PART; part < Number(parts); part++) {
  const entries = Array.from({ length: PART }, (_, at) => ({
    key: Buffer.from(`key ${part * PART + at}`),
    version: BigInt(at % 8),
    value: Buffer.alloc(at % 10 === 0 ? 5_000 : 20, part),
  }))
  await state.add(entries, Buffer.from(`part ${part}`))
  process.stdout.write(`${part + 1}\n`)
}
await state.finish({ chainId: 7, block: { height: 1n, epoch: 0n, timestampUsec: 1n } })
process.stdout.write('finished\n')
await engine.commit([{ version: 8n, block: undefined, writes: [[Buffer.from('key 1'), null]] }], { chainId: 7 })
process.stdout.write('committed\n')
await engine.close()
