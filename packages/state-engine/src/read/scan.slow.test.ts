import './scan.test.js'
