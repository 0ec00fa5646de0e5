// Processes of two pid namespaces, as two containers have them, that have one process number and one store.
import { spawn, spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { eventually } from '@ledger-state/testing/eventually'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine } from '../open-state-engine.js'

const SCRIPT = await bundledScript(new URL('../../testing/namespace-reader.ts', import.meta.url))
const folder = temporaryFolder()

/** Words that run a command as process 1 of a new pid namespace. */
const NAMESPACE = [
  ['unshare', '--pid', '--fork', '--kill-child=KILL'],
  ['unshare', '--map-root-user', '--pid', '--fork', '--kill-child=KILL'],
].find(([command, ...words]) => spawnSync(command!, [...words, 'true']).status === 0)

/** Starts a process 1 that opens the store, prints how that went, and keeps it open until its input ends. */
function startReader() {
  const [command, ...words] = [...NAMESPACE!, process.execPath, SCRIPT, folder.path]
  const reader = spawn(command!, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void reader.kill('SIGKILL'))
  let output = ''
  reader.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece
  })
  const said = async (): Promise<unknown> => {
    await eventually(
      () => output.endsWith('\n') || reader.exitCode !== null,
      () => `a line of the reader: ${output}`,
    )
    return JSON.parse(output)
  }
  const end = async (): Promise<void> => {
    reader.stdin.end()
    await text(reader.stdout)
  }
  return { said, end }
}

const where = NAMESPACE ? 'another pid namespace' : 'another pid namespace, which cannot be made here'
it.skipIf(!NAMESPACE)(
  `a process of ${where} with the same number is named at once, as often as it is tried`,
  async () => {
    await openStateEngine({ path: folder.path, durability: 'none' }).close()
    const first = startReader()
    expect(await first.said()).toEqual({ pid: 1 })
    for (let round = 0; round < 2; round++) {
      const second = startReader()
      expect(await second.said()).toEqual({
        pid: 1,
        code: 'store_failed',
        fields: { processId: 1 },
        message: expect.stringMatching(/another container or pid namespace .* the same process id, 1,/),
        // lmdb-js would wait for 10 s, a hundred times.
        waits: 0,
      })
      await second.end()
    }
    await first.end()
    expect(await startReader().said()).toEqual({ pid: 1 })
  },
)
