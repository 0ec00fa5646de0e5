/** Messages about data that a slice leaves out. */
export const OUTSIDE_OF_SLICE =
  'other accounts, objects and tables, and the state of late members before they joined: reads of these are refused as version_pruned, never answered as not found, and so are searches through all accounts and proofs of the whole state; all modules and everything at 0x1, 0x3, 0x4 and 0xa are kept'
