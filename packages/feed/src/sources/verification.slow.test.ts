import './verification.test.js'
