import { unknownTo } from '../columns.js'
import type { Relation } from '../table.js'

/** Copies of files that a token or a collection names, which a service of the indexer makes. No state has them. */
export const CDN_ASSET_URIS: Relation<unknown> = {
  shape: {
    name: 'nft_metadata_crawler_parsed_asset_uris',
    columns: {
      animation_optimizer_retry_count: unknownTo('Int'),
      asset_uri: unknownTo('String'),
      cdn_animation_uri: unknownTo('String'),
      cdn_image_uri: unknownTo('String'),
      cdn_json_uri: unknownTo('String'),
      image_optimizer_retry_count: unknownTo('Int'),
      json_parser_retry_count: unknownTo('Int'),
      raw_animation_uri: unknownTo('String'),
      raw_image_uri: unknownTo('String'),
    },
  },
  read: () => undefined,
}
