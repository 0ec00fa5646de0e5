// Verifies answers in another thread than the drawing one, because each epoch change takes about 30 ms.
import {
  type ReadProof,
  readEndingsFrom,
  readProofFrom,
  type VerifiedRead,
  type VerifiedView,
  verifyRead,
} from '@ledger-state/light-client'
import type { Believed, ProofMessage, ProofResult, ProofTask } from './proof-task.ts'

/** Most modules that are remembered with their proofs. The entries of a list mostly need the same few. */
const MOST_MODULES = 64

const modules = new Map<string, Promise<unknown>>()

addEventListener('message', async ({ data }: MessageEvent<ProofTask>) => {
  send({ result: await check(data) })
})

function send(message: ProofMessage): void {
  postMessage(message)
}

async function check({ answer, question, version, waypoint, hashSalt, url }: ProofTask): Promise<ProofResult> {
  const fetchHere = fetch.bind(globalThis)
  const trust = {
    waypoint,
    version: BigInt(version),
    readEndings: readEndingsFrom(url, fetchHere),
    onReached: ({ epoch, lastEpoch, waypoint: reached }: { epoch: bigint; lastEpoch: bigint; waypoint: string }) =>
      send({ reached: { epoch: String(epoch), lastEpoch: String(lastEpoch), waypoint: reached } }),
    ...(hashSalt !== null && { hashSalt }),
  }
  try {
    if (question.kind === 'view') {
      // The virtual machine is loaded with the first view that the visitor wants computed.
      const { verifyViewAnswer } = await import('./view-verifier.ts')
      const view = await verifyViewAnswer(answer, { ...trust, question: question.call })
      const results = view.results.map(({ json }) => json)
      if (results.includes(undefined)) return UNDECODABLE
      return { believed: believedOf(view, { json: `[${results.join(',')}]`, computedFrom: view.provenCount }) }
    }
    const readProof = remembering(readProofFrom(url, fetchHere), stateOf(answer))
    const read = await verifyRead(answer, { ...trust, question, readProof })
    if (read.bytes && read.json === undefined) return UNDECODABLE
    const { json = null, impliedJson = null } = read
    return { believed: believedOf(read, { json, impliedJson }) }
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}

const UNDECODABLE: ProofResult = { refused: 'the proven bytes cannot be decoded' }

function believedOf(
  { signers, timestampUsec }: Pick<VerifiedRead | VerifiedView, 'signers' | 'timestampUsec'>,
  { json, impliedJson = null, computedFrom = null }: Partial<Believed> & Pick<Believed, 'json'>,
): Believed {
  const { epoch, count = null } = signers
  return { json, impliedJson, computedFrom, epoch: String(epoch), count, timestampUsec: String(timestampUsec) }
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
