// A program that commits, flushes and reads again, to be bundled. CommonJS has no `await` outside of functions.
import { openStateEngine, openStateEngineReader } from '../src/index.ts'

async function run(path: string): Promise<void> {
  const engine = openStateEngine({ path })
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [[Uint8Array.of(1), Uint8Array.of(2)]] }], { chainId: 4n })
  await engine.flush()
  await engine.close()
  const reader = openStateEngineReader({ path })
  console.log(reader.at().get(Uint8Array.of(1))?.[0])
  await reader.close()
}

run(process.argv[2]!).catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
