// Verifies one answer, outside of the thread that draws: each end of an epoch takes some 30 ms.
import { readProofFrom, verifyRead } from '@ledger-state/light-client'
import type { ProofResult, ProofTask } from './proof-task.ts'

addEventListener('message', async ({ data }: MessageEvent<ProofTask>) => {
  postMessage(await check(data))
})

async function check({ answer, question, version, waypoint, hashSalt, url }: ProofTask): Promise<ProofResult> {
  try {
    const { bytes, json, signers, timestampUsec } = await verifyRead(answer, {
      question,
      waypoint,
      version: BigInt(version),
      readProof: readProofFrom(url, fetch.bind(globalThis)),
      ...(hashSalt !== null && { hashSalt }),
    })
    if (bytes && json === undefined) return { refused: 'the proven bytes cannot be decoded' }
    return {
      believed: {
        json: json ?? null,
        epoch: String(signers.epoch),
        count: signers.count ?? null,
        timestampUsec: String(timestampUsec),
      },
    }
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}
