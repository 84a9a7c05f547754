/** True while the suites run with the texts of all older versions in an archive (`ISS_TEST_ARCHIVE=all`). */
export const ARCHIVES_EVERYTHING = process.env['ISS_TEST_ARCHIVE'] === 'all';
