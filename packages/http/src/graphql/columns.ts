import { addressToLongHex, parseAddress } from '@ledger-state/core'
import { type Asset, formatTimestamp, type HeldAsset, parseAsset, parseTimestamp } from '@ledger-state/ledger'
import { typeTagToText } from '@ledger-state/type-tag'
import { ifParsed } from '../protocol/if-parsed.js'
import type { Column, ScalarName, Source, Value } from './table.js'

// Columns by their types, and the forms of their values.

type Read<R, V> = (row: R, source: Source) => V | undefined

function column<R>(type: ScalarName, read: Read<R, Value>): Column<R> {
  return { type, read: (row, source) => read(row, source) ?? null }
}

export function text<R>(read: Read<R, string | null>): Column<R> {
  return column('String', read)
}

export function flag<R>(read: Read<R, boolean | null>): Column<R> {
  return column('Boolean', read)
}

export function bigint<R>(read: Read<R, bigint | null>): Column<R> {
  return column('bigint', read)
}

export function numeric<R>(read: Read<R, bigint | null>): Column<R> {
  return column('numeric', read)
}

export function integer<R>(read: Read<R, bigint | null>): Column<R> {
  return column('Int', read)
}

export function json<R>(read: Read<R, string | null>): Column<R> {
  return column('jsonb', read)
}

/** An address with 64 digits. */
export function address<R>(read: Read<R, Uint8Array>): Column<R> {
  const normalize = (given: string): string => {
    const parsed = addressOf(given)
    return parsed ? addressToLongHex(parsed) : given
  }
  const readText: Read<R, string> = (row, source) => {
    const bytes = read(row, source)
    return bytes && addressToLongHex(bytes)
  }
  return { ...column('String', readText), normalize }
}

/** A coin type, or the address of the metadata of a fungible asset. */
export function assetType<R>(read: Read<R, HeldAsset>): Column<R> {
  const normalize = (given: string): string => {
    const parsed = assetOf(given)
    return parsed ? assetText(heldAsset(parsed)) : given
  }
  const readText: Read<R, string> = (row, source) => {
    const asset = read(row, source)
    return asset && assetText(asset)
  }
  return { ...column('String', readText), normalize }
}

/** The time of a version, without a zone, in UTC. */
export function timeOfVersion<R>(read: Read<R, bigint>): Column<R> {
  return column('timestamp', (row, source) => {
    const version = read(row, source)
    const time = version === undefined ? undefined : source.timeOf(version)
    return time === undefined ? null : timeText(time)
  })
}

/** A column of the indexer that state cannot know. */
export function unknownTo<R>(type: ScalarName): Column<R> {
  return column(type, () => null)
}

/** Reads a time of a filter, in UTC if it has no zone; undefined if it is none. */
export function textToTime(given: string): bigint | undefined {
  if (!/^\d{4}-/.test(given)) return undefined
  const hasNoZone = /^[\d-]+[Tt ][\d:.]+$/.test(given)
  return ifParsed(() => parseTimestamp(hasNoZone ? `${given}Z` : given))
}

/** A time as the columns have it. Texts of later times are greater. */
export function timeText(timestampUsec: bigint): string {
  return formatTimestamp(timestampUsec).replace('Z', '')
}

function assetText(asset: HeldAsset): string {
  return asset.standard === 'v1' ? typeTagToText(asset.coin) : addressToLongHex(asset.metadata)
}

export function heldAsset(asset: Asset): HeldAsset {
  return asset.kind === 'coin' ? { standard: 'v1', coin: asset.coin } : { standard: 'v2', metadata: asset.metadata }
}

/** Parses an address in a filter; undefined if it is none, so that no row has it. */
export function addressOf(given: string): Uint8Array | undefined {
  return ifParsed(() => parseAddress(given))
}

/** Parses an asset in a filter; undefined if it is none. */
export function assetOf(given: string): Asset | undefined {
  return ifParsed(() => parseAsset(given))
}
