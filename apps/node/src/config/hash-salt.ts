import type { CommandInput } from './command.js'
import { settings } from './settings.js'

/** The word before the name of each hash: that of `--hash-salt`, or of the network that is named; undefined where neither is. */
export function readHashSalt(input: CommandInput): string | undefined {
  return input.get(settings.hashSalt) ?? input.get(settings.network)?.hashSalt
}
