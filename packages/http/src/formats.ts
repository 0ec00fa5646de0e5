export { csvCell } from './formats/csv-cell.js'
export {
  activityFormat,
  holdingFormat,
  type ItemFormat,
  OBJECT_FORMAT,
  TOKEN_FORMAT,
} from './formats/holding-formats.js'
export { leftOutFacts } from './formats/slice-formats.js'
export { TRANSACTION_COLUMNS, transactionMember, transactionToCsv } from './formats/transaction-formats.js'
