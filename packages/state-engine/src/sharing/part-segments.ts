/**
 * Id in the segment files of all parts of ledgers, so that parts which were filled independently have the same files, and
 * can be joined without writing them again. It says nothing about the content: hashes in the catalog do.
 */
export const PART_SEGMENTS_ID = 0x4c53_5041_5254_5331n
