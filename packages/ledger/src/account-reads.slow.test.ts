import './account-reads.test.js'
