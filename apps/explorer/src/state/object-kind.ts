const KINDS: readonly (readonly [type: string, kind: string])[] = [
  ['0x4::token::Token', 'token'],
  ['0x4::collection::Collection', 'collection'],
  ['0x1::fungible_asset::Metadata', 'fungible asset'],
  ['0x1::fungible_asset::FungibleStore', 'fungible store'],
]

/** Kind of an object with these resources; undefined if it is none that the framework defines. */
export function kindOfObject(resources: readonly string[]): string | undefined {
  return KINDS.find(([type]) => resources.includes(type))?.[1]
}
