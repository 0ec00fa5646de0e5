import type { AtFailpoint } from '../../src/failpoints/failpoints.ts'
import { openWithFailpoints } from '../../src/open-state-engine.ts'
import { IMPORT_PART, type RecordedRun } from './recorded-run.ts'

/** Imports a state. Prints the number of parts after each, and finally its result. */
export async function runImport(
  path: string,
  { options, parts }: Extract<RecordedRun, { readonly kind: 'import' }>,
  atFailpoint: AtFailpoint,
): Promise<void> {
  const engine = openWithFailpoints({ path, ...options }, atFailpoint)
  const state = await engine.beginImport(7n, { resume: true })
  for (let part = 0; part < parts; part++) {
    const entries = Array.from({ length: IMPORT_PART }, (_, at) => ({
      key: Buffer.from(`key ${part * IMPORT_PART + at}`),
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
}
