import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from './file-lock.js'

/** A process holds this lock as long as it uses the folder, so a folder whose lock is free was left by a killed one. */
const LOCK = 'lock'
/** Files lie in a folder of their own, so that none has the name of the lock. */
const CONTENT = 'content'
const ATTEMPTS = 8

/** A folder that other processes do not remove while this one runs. */
export interface TemporaryFolder {
  /** Path of the folder for files. */
  readonly path: string
  /** Removes the folder with all files. */
  remove(): Promise<void>
}

/**
 * Makes a temporary folder in a folder that exists. Removes those with the same prefix that killed processes left, also
 * processes of other containers.
 * @param prefix beginning of the name; a random end follows
 * @throws errors of the system
 */
export function makeTemporaryFolder(parent: string, prefix: string): TemporaryFolder {
  removeAbandonedFolders(parent, prefix)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const place = mkdtempSync(join(parent, prefix))
    const release = lockNew(place)
    if (!release) continue
    const path = join(place, CONTENT)
    mkdirSync(path)
    return {
      path,
      async remove() {
        await rm(path, { recursive: true, force: true })
        release()
        await rm(place, { recursive: true, force: true })
      },
    }
  }
  throw new Error(`${join(parent, prefix)}… cannot be locked`)
}

/**
 * Removes the temporary folders with a prefix that killed processes left. One that cannot be removed stays.
 * @throws errors of the system if the parent cannot be read
 */
export function removeAbandonedFolders(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) if (name.startsWith(prefix)) removeIfAbandoned(join(parent, name))
}

function removeIfAbandoned(place: string): void {
  const lock = join(place, LOCK)
  try {
    // A folder without a lock is being made, or is not ours.
    if (!statSync(lock, { throwIfNoEntry: false })) return
    const release = lockFile(lock, heldError)
    if (!release) return
    rmSync(place, { recursive: true, force: true })
    release()
  } catch {}
}

/** Locks a new folder. Returns undefined if another process took it for abandoned before it was locked. */
function lockNew(place: string): (() => void) | undefined {
  const lock = join(place, LOCK)
  try {
    const release = lockFile(lock, heldError) ?? nothing
    if (statSync(lock, { throwIfNoEntry: false })) return release
    release()
  } catch (error) {
    const isTaken = error instanceof HeldError || !statSync(place, { throwIfNoEntry: false })
    if (isTaken) return undefined
    rmSync(place, { recursive: true, force: true })
    throw error
  }
  return undefined
}

class HeldError extends Error {}

function heldError(): Error {
  return new HeldError()
}

function nothing(): void {}
