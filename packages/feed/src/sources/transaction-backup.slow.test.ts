import './transaction-backup.test.js'
