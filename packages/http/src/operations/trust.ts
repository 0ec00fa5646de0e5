import type { LedgerSummary } from '@ledger-state/engine'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { newestProvableEnd } from './parts/block-proofs.js'
import type { Operation, OperationRequest } from './parts/operation.js'

/** The part of the served ledger that validators signed. */
export interface SignedState {
  /** The waypoint from which the validators follow, `version:hash`. */
  readonly waypoint: string
  /** The newest version that is signed. */
  readonly version: bigint
  /** The epoch whose validators signed that version. */
  readonly epoch: bigint
  /** Voting power that signed, and of all; undefined if the versions end with the waypoint itself. */
  readonly power: { readonly signed: bigint; readonly total: bigint } | undefined
}

/** Versions whose state roots an audit computed and compared with the ledger. */
export interface AuditedVersions {
  readonly from: bigint
  readonly version: bigint
  /** Number of times that the state differed for some blocks. */
  readonly findings: number
}

/** Signatures that verify a ledger, and those that contradict it. */
export interface LedgerTrust {
  /** Signed part of the store; undefined if nothing verifies it. */
  readonly signed: SignedState | undefined
  /** Version up to which the validators of an epoch signed a different ledger; undefined if none did. */
  readonly contradicted: { readonly version: bigint; readonly epoch: bigint } | undefined
  /** The operator's audit; absent if there was none. */
  readonly audited?: AuditedVersions | undefined
}

/** Reads the current signatures. */
export type ReadTrust = () => LedgerTrust

const U64_OR_NULL = { oneOf: [{ $ref: '#/components/schemas/U64' }, { type: 'null' }] }
const POWER_OR_NULL = { type: ['string', 'null'], description: 'A decimal text of up to 128 bits.' }

const NOTHING: LedgerTrust = { signed: undefined, contradicted: undefined }

const TRUST_SCHEMA = {
  type: 'object',
  required: [
    'ledger_version',
    'network',
    'waypoint',
    'signed_version',
    'signed_epoch',
    'signed_power',
    'total_power',
    'contradicted_version',
    'contradicted_epoch',
    'audited_version',
    'audited_from_version',
    'audit_findings',
    'proof_versions',
    'proof_blocks',
    'hash_salt',
  ],
  properties: {
    ledger_version: { $ref: '#/components/schemas/U64' },
    network: { type: ['string', 'null'], description: 'Name of the network, given by the operator of the node.' },
    waypoint: { type: ['string', 'null'], description: '`version:hash`, as the network publishes it.' },
    signed_version: U64_OR_NULL,
    signed_epoch: U64_OR_NULL,
    signed_power: POWER_OR_NULL,
    total_power: POWER_OR_NULL,
    contradicted_version: U64_OR_NULL,
    contradicted_epoch: U64_OR_NULL,
    audited_version: U64_OR_NULL,
    audited_from_version: U64_OR_NULL,
    audit_findings: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'How many times the state differs from the ledger for some blocks between `audited_from_version` and `audited_version`. At 0, the node found the state root of the ledger at the end of each of these blocks.',
    },
    proof_versions: {
      type: 'array',
      items: { $ref: '#/components/schemas/U64' },
      description:
        'Versions at which `proof=true` gives proofs, newest first: the signed checkpoints with a tree, and the newest of `proof_blocks`.',
    },
    proof_blocks: {
      description: 'Versions between which ends of blocks have proofs, too; null if none do.',
      oneOf: [
        {
          type: 'object',
          required: ['first_version', 'last_version'],
          properties: {
            first_version: { $ref: '#/components/schemas/U64' },
            last_version: { $ref: '#/components/schemas/U64' },
          },
        },
        { type: 'null' },
      ],
    },
    hash_salt: { type: ['string', 'null'], description: 'The prefix of the names of the hashes in a proof.' },
  },
}

/**
 * Creates the operation that reports signatures.
 * @param readTrust by default nothing verifies any ledger
 * @param network name of the network; undefined if it has none
 */
export function createTrustOperation(readTrust: ReadTrust = () => NOTHING, network?: string): Operation {
  return {
    id: 'trust',
    method: 'GET',
    path: '/v1/-/trust',
    negotiates: false,
    tag: 'General',
    summary: 'Show the trusted state of the ledger',
    description:
      'The verified range of the ledger: the newest version that is signed by validators verified from a waypoint. Everything is null if no signatures were verified; versions above `signed_version` are only as trustworthy as their source. If validators signed a different ledger up to `contradicted_version`, versions above `signed_version` are not served.',
    parameters: [],
    success: { json: TRUST_SCHEMA },
    errors: [400, 403, 500, 503],
    handle(request) {
      request.expectOutput('json', 'Show the trusted state of the ledger')
      const { ledger } = request.pin(undefined)
      const body = JSON.stringify({
        ledger_version: String(ledger.latestVersion),
        network: network ?? null,
        ...signatures(readTrust(), ledger),
        ...provenVersions(request, ledger),
        hash_salt: request.proofs?.hashSalt ?? null,
      })
      return { ledger, contentType: CONTENT_TYPE.json, body }
    },
  }
}

function signatures({ signed, contradicted, audited }: LedgerTrust, { latestVersion }: LedgerSummary) {
  const text = (number: bigint | undefined) => (number === undefined ? null : String(number))
  // The newest versions may have been cut off since they were signed.
  const version = signed && signed.version > latestVersion ? latestVersion : signed?.version
  return {
    waypoint: signed?.waypoint ?? null,
    signed_version: text(version),
    signed_epoch: text(signed?.epoch),
    signed_power: text(signed?.power?.signed),
    total_power: text(signed?.power?.total),
    contradicted_version: text(contradicted?.version),
    contradicted_epoch: text(contradicted?.epoch),
    audited_version: text(audited?.version),
    audited_from_version: text(audited?.from),
    audit_findings: audited?.findings ?? null,
  }
}

/** Versions with proofs, limited to those that can be read. */
function provenVersions(
  request: Pick<OperationRequest, 'ledger' | 'proofs'>,
  { oldestVersion, latestVersion }: LedgerSummary,
) {
  const { proofs } = request
  const trees = (proofs?.versions ?? []).filter((version) => version >= oldestVersion && version <= latestVersion)
  const last = proofs && newestProvableEnd(request, proofs)
  const first = proofs?.blocks?.endAfter(oldestVersion - 1n)
  const isRange = first !== undefined && last !== undefined && first <= last
  const versions = isRange && !trees.includes(last) ? [...trees, last].sort((a, b) => (a > b ? -1 : 1)) : trees
  const blocks = isRange ? { first_version: String(first), last_version: String(last) } : null
  return { proof_versions: versions.map(String), proof_blocks: blocks }
}
