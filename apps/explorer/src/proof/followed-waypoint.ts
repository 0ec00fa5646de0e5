import { isWaypoint } from './trusted-waypoint.ts'

const STORED_AS = 'followed-waypoints'
/** Most waypoints that this browser keeps. It needs one for each chain that the visitor looks at. */
const MOST_KEPT = 16

/**
 * The waypoint to continue from: the newest epoch change that this browser verified from a trusted waypoint, if it
 * is older than `version`; else the trusted waypoint itself.
 */
export function followedFrom(trusted: string, version: string): string {
  const kept = parseFollowed(read()).get(trusted)
  return kept !== undefined && versionOf(kept) <= BigInt(version) ? kept : trusted
}

/** Keeps an epoch change that was verified from a trusted waypoint, if it is the newest. */
export function keepFollowed(trusted: string, reached: string): void {
  const kept = parseFollowed(read())
  const before = kept.get(trusted)
  if (!isWaypoint(reached) || (before !== undefined && versionOf(before) >= versionOf(reached))) return
  kept.delete(trusted)
  const others = [...kept].slice(-(MOST_KEPT - 1))
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(Object.fromEntries([...others, [trusted, reached]])))
  } catch {
    // A browser that keeps nothing begins at the trusted waypoint each time.
  }
}

/** Reads the stored waypoints, and leaves out anything else. */
export function parseFollowed(text: string | null): Map<string, string> {
  try {
    const stored = Object.entries((JSON.parse(text ?? '{}') ?? {}) as Record<string, unknown>)
    return new Map(
      stored.flatMap(([from, to]) => (isWaypoint(from) && isWaypoint(String(to)) ? [[from, String(to)]] : [])),
    )
  } catch {
    return new Map()
  }
}

function versionOf(waypoint: string): bigint {
  return BigInt(waypoint.split(':')[0]!)
}

function read(): string | null {
  try {
    return localStorage.getItem(STORED_AS)
  } catch {
    return null
  }
}
