// Recordings as of engines with faults that only a loss of power reveals.
import type { DiskEvent, FileId } from './read-trace.ts'

export const FAULTS: Readonly<Record<string, (events: readonly DiskEvent[]) => DiskEvent[]>> = {
  'does not sync WAL files': (events) => withoutSyncs(events, /^write-ahead-/),
  'does not sync LMDB': (events) => withoutSyncs(events, /^state\.mdb/),
  'does not sync the folder': (events) => events.filter(({ kind }) => kind !== 'folder synced'),
  'does not write meta pages through': (events) =>
    events.map((event) => (event.kind === 'write' ? { ...event, isSynced: false } : event)),
  'acknowledges before it syncs': acknowledgedEarly,
  'removes files before LMDB is synced': removedEarly,
}

function withoutSyncs(events: readonly DiskEvent[], name: RegExp): DiskEvent[] {
  const names = namesOf(events)
  return events.filter(
    (event) => !(event.kind.startsWith('sync ') && 'file' in event && name.test(names.get(event.file)!)),
  )
}

/** First name of each file. */
function namesOf(events: readonly DiskEvent[]): Map<FileId, string> {
  return new Map(events.flatMap((event) => (event.kind === 'create' ? [[event.file, event.name]] : [])))
}

function acknowledgedEarly(events: readonly DiskEvent[]): DiskEvent[] {
  return movedBefore(events, ({ kind }) => kind === 'printed')
}

function removedEarly(events: readonly DiskEvent[]): DiskEvent[] {
  return movedBefore(events, ({ kind }) => kind === 'remove')
}

/** Moves some events before the sync that precedes them. */
function movedBefore(events: readonly DiskEvent[], isMoved: (event: DiskEvent) => boolean): DiskEvent[] {
  const changed: DiskEvent[] = []
  for (const event of events) {
    const place = isMoved(event) ? changed.findLastIndex(({ kind }) => kind === 'sync began') : -1
    if (place >= 0) changed.splice(place, 0, event)
    else changed.push(event)
  }
  return changed
}
