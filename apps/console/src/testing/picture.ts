/** Stands for a picture: its address. */
export default '/console/assets/picture.svg';
