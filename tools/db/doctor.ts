/** `npm run doctor`: `iss doctor`, which says what has to be done. `-- --gateways 3 --workers 2` is handed on. */
process.argv.splice(2, 0, 'doctor');
await import('../iss.ts');
