import './data-file.test.js'
