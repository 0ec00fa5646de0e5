import { signal } from '@preact/signals'
import { readStored, writeStored } from '../state/stored-text.ts'
import { KNOWN_WAYPOINTS } from './known-waypoints.ts'

/** The point of the ledger from which the validators of proofs follow, and its origin. */
export interface TrustedWaypoint {
  readonly waypoint: string
  readonly saidBy: 'visitor' | 'network' | 'node'
}

const STORED_AS = 'trusted-waypoints'

/** The waypoints that the visitor chose, by chain id. This browser keeps them. */
const chosen = signal<Readonly<Record<string, string>>>(parseChosen(readStored(STORED_AS)))

export function isWaypoint(text: string): boolean {
  return /^(?:0|[1-9]\d{0,19}):[0-9a-f]{64}$/.test(text)
}

/** Reads the stored waypoints, and leaves out anything else. */
export function parseChosen(text: string | null): Readonly<Record<string, string>> {
  try {
    const stored = Object.entries((JSON.parse(text ?? '{}') ?? {}) as Record<string, unknown>)
    return Object.fromEntries(stored.flatMap(([chain, one]) => (isWaypoint(String(one)) ? [[chain, String(one)]] : [])))
  } catch {
    return {}
  }
}

/**
 * The waypoint to trust: the visitor's choice; else the node's own if the network publishes it; else the newest
 * waypoint that the network publishes at or before a version; else the node's own.
 */
export function trustedWaypoint(chainId: string, ofNode: string | null, version: string): TrustedWaypoint | undefined {
  const ofVisitor = chosen.value[chainId]
  if (ofVisitor !== undefined) return { waypoint: ofVisitor, saidBy: 'visitor' }
  const known = KNOWN_WAYPOINTS[chainId] ?? []
  const early = known.filter((one) => BigInt(one.split(':')[0]!) <= BigInt(version))
  const ofNetwork = ofNode !== null && known.includes(ofNode) ? ofNode : early.at(-1)
  if (ofNetwork !== undefined) return { waypoint: ofNetwork, saidBy: 'network' }
  return ofNode === null ? undefined : { waypoint: ofNode, saidBy: 'node' }
}

/**
 * Chooses the trusted waypoint of a chain.
 * @param waypoint undefined for the default
 */
export function chooseWaypoint(chainId: string, waypoint: string | undefined): void {
  const { [chainId]: _, ...others } = chosen.value
  chosen.value = waypoint === undefined ? others : { ...others, [chainId]: waypoint }
  writeStored(STORED_AS, JSON.stringify(chosen.value))
}
