import type { CommandInput } from './command.js'
import { settings } from './settings.js'

/**
 * The word before the name of each hash: from `--hash-salt`, or of the named network; undefined if neither is given.
 */
export function readHashSalt(input: CommandInput): string | undefined {
  return input.get(settings.hashSalt) ?? input.get(settings.network)?.hashSalt
}
