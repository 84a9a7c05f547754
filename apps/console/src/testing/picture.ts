/** Replaces a picture in tests by its address. */
export default '/console/assets/picture.svg';
