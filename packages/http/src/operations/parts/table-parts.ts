export const TABLE_HANDLE_PARAMETER = {
  name: 'table_handle',
  in: 'path',
  description: 'Handle of the table, 32 bytes in hex.',
  schema: { $ref: '#/components/schemas/Address' },
} as const
