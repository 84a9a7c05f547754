/** `npm run doctor`: runs `iss doctor`, and passes options on, such as `-- --gateways 3 --workers 2`. */
process.argv.splice(2, 0, 'doctor');
await import('../iss.ts');
