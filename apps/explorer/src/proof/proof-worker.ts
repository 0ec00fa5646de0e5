// Verifies answers in another thread than the drawing one, because each epoch change takes about 30 ms.
import { type ReadProof, readEndingsFrom, readProofFrom } from '@ledger-state/light-client'
import { checkTask } from './check-task.ts'
import type { ProofMessage, ProofTask, Reached } from './proof-task.ts'

/** Most modules that are remembered with their proofs. The entries of a list mostly need the same few. */
const MOST_MODULES = 64

const modules = new Map<string, Promise<unknown>>()

addEventListener('message', async ({ data }: MessageEvent<ProofTask>) => {
  const { answer, url } = data
  const fetchHere = fetch.bind(globalThis)
  const reads = {
    readEndings: readEndingsFrom(url, fetchHere),
    readProof: remembering(readProofFrom(url, fetchHere), stateOf(answer)),
    onReached: (reached: Reached) => send({ reached }),
  }
  send({ result: await checkTask(data, reads) })
})

function send(message: ProofMessage): void {
  postMessage(message)
}

/** Bytes that name the state of a proof. A version does not: another ledger may have the same chain id. */
function stateOf(answer: string): string | undefined {
  return /"transaction_info":"(0x[0-9a-f]+)"/.exec(answer)?.[1]
}

/** Remembers the data of proofs of a state, which are verified each time. Failed requests are repeated. */
function remembering(read: ReadProof, state: string | undefined): ReadProof {
  if (state === undefined) return read
  return (stateKey, version) => {
    const name = `${version} ${state} ${stateKey}`
    const known = modules.get(name)
    if (known) return known
    const asked = read(stateKey, version)
    asked.catch(() => modules.delete(name))
    if (modules.size >= MOST_MODULES) modules.delete(modules.keys().next().value!)
    modules.set(name, asked)
    return asked
  }
}
