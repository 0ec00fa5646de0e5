import './last-transaction.test.js'
