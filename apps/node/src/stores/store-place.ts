import type { CommandInput } from '../config/command.js'
import { settings } from '../config/settings.js'
import { usageError } from '../errors.js'

/** Place of a store: a folder, or a database. */
export type StorePlace = FolderPlace | DatabasePlace

export interface FolderPlace {
  readonly kind: 'folder'
  readonly dataDir: string
}

export interface DatabasePlace {
  readonly kind: 'database'
  readonly url: string
  /** URLs of the database's streaming replicas, which answer reads. */
  readonly replicas?: readonly string[] | undefined
}

/** Options of commands that take a folder or a database. */
export const storeOptions = [settings.dataDir, settings.store]

/**
 * Finds the place of the store of a command.
 * @throws `usage` unless the input names one place
 */
export function storePlace(input: CommandInput, command: string): StorePlace {
  const [dataDir, url] = [input.get(settings.dataDir), input.get(settings.store)]
  if (dataDir !== undefined && url !== undefined)
    throw usageError(`${command}: give only one of --data-dir and --store, which name two stores`)
  if (url !== undefined) return { kind: 'database', url, replicas: input.get(settings.storeReplicas) }
  if (dataDir !== undefined) return { kind: 'folder', dataDir }
  throw usageError(`${command}: --data-dir DIR or --store URL is missing`)
}

/**
 * Finds the place of the store of a command that does not need one.
 * @throws `usage` if the input names two places
 */
export function placeIfNamed(input: CommandInput): StorePlace | undefined {
  const isNamed = input.get(settings.dataDir) !== undefined || input.get(settings.store) !== undefined
  return isNamed ? storePlace(input, 'ingest') : undefined
}

/** The folder or the database that a word names. */
export function wordToPlace(word: string): StorePlace {
  return /^postgres(ql)?:\/\//.test(word) ? { kind: 'database', url: word } : { kind: 'folder', dataDir: word }
}

/** Name of a place for messages and logs: without a password. */
export function nameOfPlace(place: StorePlace): string {
  if (place.kind === 'folder') return place.dataDir
  const { protocol, username, host, pathname } = new URL(place.url)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}
